"""Images for the model: from the clipboard or from a path that was pasted, each named in the draft by a label.

The label is what stands in the prompt's text; whoever sends a text that holds it sends the image with it. So an
image survives the editor, the queue and the history for as long as the program runs.
"""

from __future__ import annotations

import binascii
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from grokmini.chat.images import IMAGE_BYTES_LIMIT
from grokmini.files.regular import read_start
from grokmini.protocol.items import ImagePart

_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_LABEL = re.compile(r"\[image (\d+): [^\]\n]*\]")
_LONGEST_PATH = 4_096


class ImageError(Exception):
    """The image cannot be sent; the text says why."""


class Album:
    """The images of one program run. `blind` says why the model in force cannot see, "" when it can."""

    def __init__(self, blind: Callable[[], str]) -> None:
        self._blind = blind
        self._images: list[tuple[str, ImagePart]] = []

    def add(self, name: str, data: bytes) -> str:
        """Keep an image; its label. Raises `ImageError`."""
        if blind := self._blind():
            raise ImageError(blind)
        if len(data) > IMAGE_BYTES_LIMIT:
            raise ImageError(f"{name} is larger than {IMAGE_BYTES_LIMIT >> 20} MB and is not sent")
        kind = media_type(data)
        if kind is None:
            raise ImageError(f"{name} is no PNG, JPEG, GIF or WebP image and is not sent")
        label = f"[image {len(self._images) + 1}: {_safe(name)}, {_size(len(data))}]"
        self._images.append((label, ImagePart(kind, binascii.b2a_base64(data, newline=False).decode())))
        return label

    def add_path(self, pasted: str, folder: str) -> str | None:
        """The label of the image whose path was pasted or dropped; None when the text is no such path.

        Blocks for as long as reading takes. Raises `ImageError`.
        """
        path = image_path(pasted, folder)
        if path is None:
            return None
        try:
            return self.add(path.name, read_start(path, IMAGE_BYTES_LIMIT + 1))
        except OSError as error:
            raise ImageError(f"{path.name} cannot be read: {error.strerror}") from error

    def named_in(self, text: str) -> tuple[ImagePart, ...]:
        """The images whose labels stand in the text, in their order there, each once."""
        numbers = dict.fromkeys(int(match[1]) for match in _LABEL.finditer(text))
        known = (self._images[number - 1] for number in numbers if 0 < number <= len(self._images))
        return tuple(image for label, image in known if label in text)


def media_type(data: bytes) -> str | None:
    """What kind of image the bytes are; None for one that models do not take."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def image_path(pasted: str, folder: str) -> Path | None:
    """The existing image file that a pasted or dropped text names: as it is, quoted for a shell, or as a URL."""
    text = pasted.strip()
    if len(text) > _LONGEST_PATH or "\n" in text or not text.rstrip("'\"").lower().endswith(_SUFFIXES):
        return None
    for name in (text, *_unquoted(text)):
        path = Path(folder, Path(name).expanduser() if name.startswith("~/") else name)
        try:
            if path.is_file():
                return path
        except (OSError, ValueError):  # longer than a name can be, or with a zero byte
            return None
    return None


def _unquoted(text: str) -> list[str]:
    if text.startswith("file://"):
        return [unquote(text.removeprefix("file://").removeprefix("localhost"))]
    try:
        words = shlex.split(text)
    except ValueError:
        return []
    return words if len(words) == 1 else []


def _safe(name: str) -> str:
    """A name that stands in a label, cut and without what would end the label."""
    from grokmini.text.sanitise import sanitise
    from grokmini.text.width import cut_to_width

    return cut_to_width(re.sub(r"[\[\]]", "_", sanitise(name, newlines=False)), 40)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1_000_000 else f"{max(1, round(count / 1000))} kB"
