"""What the settings and the model make of the prompt: vi's keys, images."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.inline_pty import inline_pty
from tests.e2e.program import Place
from tests.fakes.model_server import ModelServer, reply

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 2_000


def configure(place: Place, text: str) -> None:
    """Write the person's settings."""
    folder = place.home / ".config" / "grokmini"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


def test_vi_s_keys_edit_the_prompt_where_the_settings_say_so(place: Place) -> None:
    configure(place, "[ui]\nvim_mode = true\n")
    with ModelServer([reply("an answer")]) as server, inline_pty(place, server) as person:
        person.see("/ commands")
        person.type("hello worlds")
        person.see("› hello worlds")
        person.type("\x1b")
        person.see("vi: commands")
        person.type("x0dw")
        person.wait_until(lambda: "› world" in person.emulator.screen, "edited by commands")
        person.type("\r")
        person.see("an answer")
        assert server.bodies[0]["messages"][-1]["content"].endswith("world")


def test_a_dropped_image_is_sent_to_a_model_that_sees(place: Place, tmp_path: Path) -> None:
    configure(place, "[model.fake-model]\nsupports = { images = true }\n")
    shot = tmp_path / "shot.png"
    shot.write_bytes(PNG)
    with ModelServer([reply("a black square")]) as server, inline_pty(place, server) as person:
        person.see("/ commands")
        person.type(f"\x1b[200~{shot}\x1b[201~")
        person.see("› [image 1: shot.png, 2 kB]")
        person.type("\r")
        person.see("a black square")
        kinds = [part["type"] for part in server.bodies[0]["messages"][-1]["content"]]
        assert kinds == ["text", "image_url"]


def test_a_model_that_does_not_see_is_not_sent_images(place: Place, tmp_path: Path) -> None:
    shot = tmp_path / "shot.png"
    shot.write_bytes(PNG)
    with ModelServer([reply("no image")]) as server, inline_pty(place, server, 120) as person:
        person.see("/ commands")
        person.type(f"\x1b[200~{shot}\x1b[201~")
        person.see("fake-model cannot see images: /model chooses another")
        person.type("\r")
        person.see("no image")
        assert isinstance(server.bodies[0]["messages"][-1]["content"], str)


def test_a_resumed_session_says_at_once_how_full_it_is_and_what_it_has_used(place: Place) -> None:
    with ModelServer([reply(" ".join(f"w{n}" for n in range(8_000)))]) as server:
        assert place.run("-p", "tell", server=server).returncode == 0
        with inline_pty(place, server, 120, 24, "--continue") as person:
            person.wait_until(
                lambda: any("% of 128k" in row and "~0%" not in row for row in person.emulator.screen),
                "how full the window is",
            )
            person.see(" · 120 tokens")
            assert len(server.bodies) == 1
