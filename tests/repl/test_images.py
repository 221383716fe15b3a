"""Images in the draft: taken from a path or the clipboard, shown as a chip, sent with the text that names them."""

from __future__ import annotations

import binascii
from pathlib import Path

import pytest

from grokmini.chat.images import IMAGE_BYTES_LIMIT
from grokmini.protocol.items import ImagePart
from grokmini.repl.images import Album, ImageError, image_path, media_type
from grokmini.repl.input_actions import Hint, Submit
from tests.repl.draft import BACKSPACE, ENTER, TAB, Typist, pasted

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 2_000
CHIP = "[image 1: shot.png, 2 kB]"


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    path = tmp_path / "shot.png"
    path.write_bytes(PNG)
    return path


def part(data: bytes = PNG, kind: str = "image/png") -> ImagePart:
    return ImagePart(kind, binascii.b2a_base64(data, newline=False).decode())


def test_a_pasted_path_becomes_a_chip_and_its_image_goes_with_the_text(shot: Path) -> None:
    typist = Typist()
    typist.type("what is ", pasted(str(shot)))
    assert typist.rows() == [f"› what is {CHIP}"]
    assert typist.menu() == ["Backspace removes it"]
    (sent,) = typist.type(" here", ENTER)
    assert sent == Submit(f"what is {CHIP} here")
    assert typist.album.named_in(sent.text) == (part(),)


def test_the_chip_is_one_unit_and_backspace_takes_the_image_away(shot: Path) -> None:
    typist = Typist()
    typist.type("see ", pasted(str(shot)), TAB, BACKSPACE, ENTER)
    assert typist.album.named_in("see ") == ()
    assert typist.draft == ""


def test_the_image_comes_back_with_the_text_from_the_queue_or_the_editor(shot: Path) -> None:
    typist = Typist()
    typist.type(pasted(str(shot)), ENTER)
    typist.input.set_text(f"again {CHIP}")
    typist.type(BACKSPACE)
    assert typist.draft == "again "


@pytest.mark.parametrize("form", ["{}", "'{}'", '"{}"', " {}\n", "file://{}", "escaped"])
def test_a_path_counts_in_every_form_that_terminals_drop(tmp_path: Path, form: str) -> None:
    path = tmp_path / "my shot.PNG"
    path.write_bytes(PNG)
    text = str(path).replace(" ", "\\ ") if form == "escaped" else form.format(path)
    assert image_path(text, "/nowhere") == path
    assert image_path("my shot.PNG", str(tmp_path)) == path


@pytest.mark.parametrize(
    "text", ["look at shot.png", "/no/such.png", "a\nb.png", "x" * 5_000 + ".png", "\0.png"]
)
def test_other_texts_are_pasted_as_they_are(text: str) -> None:
    assert image_path(text, "/nowhere") is None


def test_a_model_that_cannot_see_is_named_and_the_path_stays_text(shot: Path) -> None:
    typist = Typist(blind="old-model cannot see images")
    assert typist.type(pasted(str(shot))) == [Hint("old-model cannot see images")]
    assert typist.draft == str(shot)
    assert typist.input.insert_image("clipboard", PNG) == [Hint("old-model cannot see images")]
    assert typist.draft == str(shot)


def test_what_is_no_image_or_too_large_is_refused_with_a_sentence(tmp_path: Path) -> None:
    album = Album(lambda: "")
    with pytest.raises(ImageError, match=r"a\.png is no PNG"):
        album.add("a.png", b"text")
    with pytest.raises(ImageError, match="larger than 20 MB"):
        album.add("a.png", PNG.ljust(IMAGE_BYTES_LIMIT + 1))
    secret = tmp_path / "secret.png"
    secret.symlink_to("/proc/self/mem")
    with pytest.raises(ImageError, match=r"secret\.png"):
        album.add_path(str(secret), "/")


def test_kinds_are_told_by_their_first_bytes() -> None:
    assert media_type(b"\xff\xd8\xff\xe0") == "image/jpeg"
    assert media_type(b"GIF89a") == "image/gif"
    assert media_type(b"RIFF\0\0\0\0WEBPVP8 ") == "image/webp"
    assert media_type(b"RIFF\0\0\0\0WAVE") is None


def test_images_are_sent_in_the_order_of_the_text_each_once() -> None:
    album = Album(lambda: "")
    first, second = album.add("a.png", PNG), album.add("b]\x1b.gif", b"GIF89a")
    assert second == "[image 2: b_␛.gif, 1 kB]"
    assert album.named_in(f"{second} {first} {second} [image 9: x]") == (part(b"GIF89a", "image/gif"), part())
    assert album.named_in("[image 1: other.png, 2 kB]") == ()
