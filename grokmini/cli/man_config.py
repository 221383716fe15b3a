"""The manual page grokmini-config(5), made from the settings."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from grokmini.cli.config import DERIVED
from grokmini.cli.roff import Page, bold, escaped
from grokmini.cli.sandbox_help import ABOUT, EXAMPLE, KEYS
from grokmini.cli.setting_help import MODEL, SETTINGS
from grokmini.config.layers import leaves
from grokmini.config.settings import Settings
from grokmini.protocol.model import Price, Supports, TimeLimits
from grokmini.sandbox.profile_file import TAKES


def settings_page() -> str:
    """grokmini-config(5)."""
    page = Page("grokmini-config", 5, "settings of grokmini")
    page.section("DESCRIPTION")
    page.paragraph(
        escaped(
            "Settings are TOML, in config.toml in the folder that `grokmini config` names. Later files win:"
        ),
        escaped(
            "/etc/grokmini/managed_config.toml, managed_config.toml and config.toml in your own folder, then"
        ),
        escaped(".grokmini/config.toml of the project, which can only add rules that ask or deny."),
        escaped("`grokmini config` shows every value and where it comes from."),
    )
    page.section("SETTINGS")
    for key, default in setting_defaults():
        page.term(f"{bold(key)} = {escaped(default)}", SETTINGS[key])
    page.section("MODELS")
    page.paragraph(escaped("Each [model.NAME] is a model that --model NAME chooses."))
    inner = {
        name: ", ".join(struct.__struct_fields__)
        for name, struct in (("supports", Supports), ("price", Price), ("limits", TimeLimits))
    }
    for key, text in MODEL.items():
        page.term(bold(key), text.format(**inner))
    _profiles(page)
    page.section("EXAMPLES")
    page.example(("[models]", 'default = "work"', "", "[model.work]", 'model = "name-of-the-model"'))
    page.example(('base_url = "https://example.com/v1"', 'env_key = "WORK_API_KEY"', "context_window = 128000"))
    page.section("SEE ALSO")
    page.paragraph(f"{bold('grokmini')}(1)")
    return page.text()


def _profiles(page: Page) -> None:
    page.section("SANDBOX PROFILES")
    for text in ABOUT:
        page.paragraph(escaped(text))
    for key, text in KEYS.items():
        page.term(bold(key), f"{TAKES[key][:1].upper()}{TAKES[key][1:]}. {text}")
    page.paragraph(escaped("An example, for the file of your own:"))
    page.example(EXAMPLE.splitlines())


def setting_defaults() -> Iterator[tuple[str, str]]:
    """Every key that can be set, and its default as TOML writes it."""
    for names, value in leaves(msgspec.to_builtins(Settings())):
        if (key := ".".join(names)) not in DERIVED:
            yield key, msgspec.json.encode(value).decode()
