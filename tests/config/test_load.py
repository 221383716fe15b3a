"""Layers of settings: which wins, what is refused, what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import msgspec.inspect
import pytest

from grokmini.config.load import Loaded, load_settings
from grokmini.config.paths import Places
from grokmini.config.settings import Settings
from grokmini.protocol.errors import ConfigError
from grokmini.protocol.model import ModelEntry
from grokmini.protocol.permission import PermissionMode


class Layers:
    """Folders for every layer."""

    def __init__(self, base: Path) -> None:
        self.places = Places(*(base / name for name in ("config", "state", "cache", "data")))
        self.system = base / "etc" / "managed_config.toml"
        self.project = base / "project"
        self.user = self.places.config / "config.toml"
        self.user_defaults = self.places.config / "managed_config.toml"
        (self.project / ".git").mkdir(parents=True)

    def write(self, file: Path, text: str) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def in_project(self, text: str, folder: str = ".") -> Path:
        return self.write(self.project / folder / ".grokmini" / "config.toml", text)

    def load(self, folder: str = ".", env: dict[str, str] | None = None, *, home: bool = True) -> Loaded:
        (self.project / folder).mkdir(parents=True, exist_ok=True)
        places = self.places if home else None
        return load_settings(places, self.project / folder, env or {}, system_file=self.system)


@pytest.fixture
def layers(tmp_path: Path) -> Layers:
    return Layers(tmp_path)


def test_without_files_everything_is_as_documented(layers: Layers) -> None:
    loaded = layers.load()
    assert loaded.settings.permission.mode is PermissionMode.ASK
    assert loaded.settings.shell.timeout_secs == 120
    assert (loaded.models, loaded.warnings, loaded.origins) == ({}, (), {})


def test_the_user_wins_over_managed_defaults_and_these_over_the_system(layers: Layers) -> None:
    layers.write(layers.system, "[shell]\ntimeout_secs = 1\nmax_timeout_secs = 1\noutput_limit = 1\n")
    layers.write(layers.user_defaults, "[shell]\ntimeout_secs = 2\nmax_timeout_secs = 2\n")
    layers.write(layers.user, "[shell]\ntimeout_secs = 3\n")
    loaded = layers.load()
    shell = loaded.settings.shell
    assert (shell.timeout_secs, shell.max_timeout_secs, shell.output_limit) == (3, 2, 1)
    assert loaded.origins == {
        "shell.timeout_secs": str(layers.user),
        "shell.max_timeout_secs": str(layers.user_defaults),
        "shell.output_limit": str(layers.system),
    }


def test_arrays_replace_between_the_users_own_layers(layers: Layers) -> None:
    layers.write(layers.user_defaults, '[permission]\nallow = ["Bash(a)"]\n')
    layers.write(layers.user, '[permission]\nallow = ["Bash(b)"]\n')
    assert layers.load().settings.permission.allow == ("Bash(b)",)


def test_reading_before_editing_can_be_switched_off_by_the_user_alone(layers: Layers) -> None:
    assert layers.load().settings.tools.skip_read_before_edit is False
    layers.in_project("[tools]\nskip_read_before_edit = true\n")
    assert layers.load().settings.tools.skip_read_before_edit is False
    layers.write(layers.user, "[tools]\nskip_read_before_edit = true\n")
    assert layers.load().settings.tools.skip_read_before_edit is True


def test_projects_only_add_rules_that_make_it_stricter(layers: Layers) -> None:
    layers.write(layers.user, '[permission]\ndeny = ["Bash(a)"]\nallow = ["Bash(z)"]\n')
    top = layers.in_project('[permission]\ndeny = ["Bash(b)"]\nask = ["Bash(c)"]\n')
    below = layers.in_project('[permission]\ndeny = ["Bash(d)"]\n', "sub")
    loaded = layers.load("sub")
    assert loaded.settings.permission.deny == ("Bash(a)", "Bash(b)", "Bash(d)")
    assert loaded.settings.permission.ask == ("Bash(c)",)
    assert loaded.settings.permission.allow == ("Bash(z)",)
    assert loaded.origins["permission.deny"] == f"{layers.user}, {top}, {below}"
    assert layers.load().settings.permission.deny == ("Bash(a)", "Bash(b)")


@pytest.mark.parametrize(
    "text",
    [
        '[permission]\nallow = ["Bash"]\n',
        '[permission]\nmode = "always-approve"\n',
        '[models]\ndefault = "evil"\n',
        '[model.x]\nbase_url = "http://evil"\n',
        "[shell]\ntimeout_secs = 1\n",
    ],
)
def test_what_a_project_may_not_set_is_ignored_and_said(layers: Layers, text: str) -> None:
    file = layers.in_project(text)
    loaded = layers.load()
    assert (loaded.settings, loaded.models) == (Layers.load(layers, home=False).settings, {})
    (warning,) = loaded.warnings
    assert warning.startswith(f"{file}, line 2, column 1: ")
    assert "only set permission.ask and permission.deny" in warning


def test_an_unknown_key_of_a_project_is_named_whole(layers: Layers) -> None:
    file = layers.in_project("[colours]\nfoo = true\n")
    (warning,) = layers.load().warnings
    assert warning == f"{file}, line 2, column 1: colours.foo is not a known setting and has no effect"


@pytest.mark.parametrize(
    ("text", "named", "meant"),
    [
        ("[shel]\ntimeout_secs = 1\n", "shel.timeout_secs", "shell.timeout_secs"),
        ("[shell]\ntimeout = 1\n", "shell.timeout", "shell.timeout_secs"),
        ("[model.x]\ncontext_windw = 1\n", "model.x.context_windw", "model.x.context_window"),
        (
            "[model.x.price]\ninput = 1\noutput = 1\ncached = 1\n",
            "model.x.price.cached",
            "model.x.price.cached_input",
        ),
        ("[permission]\nnever_ask = true\n", "permission.never_ask", None),
    ],
)
def test_an_unknown_key_is_left_out_with_the_nearest_known_one(
    layers: Layers, text: str, named: str, meant: str | None
) -> None:
    layers.write(layers.user, text)
    (warning,) = layers.load().warnings
    assert f": {named} is not a known setting" in warning
    assert warning.endswith(f"did you mean {meant}?") is (meant is not None)


def test_models_are_decoded_whole(layers: Layers) -> None:
    layers.write(
        layers.user,
        '[model.mine]\nmodel = "m-1"\nbase_url = "http://localhost:1/v1"\nenv_key = ["A", "B"]\ncontext_window = 9000\n'
        'extra_headers = {x = "y"}\n[model.mine.supports]\nimages = true\n[model."other.one"]\nenv_key = "C"\n',
    )
    models = layers.load().models
    assert models["mine"].env_key == ("A", "B")
    assert models["mine"].extra_headers == {"x": "y"}
    assert models["mine"].supports is not None and models["mine"].supports.images
    assert models["other.one"].env_key == "C"


@pytest.mark.parametrize(
    ("spelling", "mode", "never_ask"),
    [
        ("ask", PermissionMode.ASK, False),
        ("default", PermissionMode.ASK, False),
        ("acceptEdits", PermissionMode.ACCEPT_EDITS, False),
        ("accept-edits", PermissionMode.ACCEPT_EDITS, False),
        ("dontAsk", PermissionMode.ASK, True),
        ("plan", PermissionMode.PLAN, False),
        ("auto", PermissionMode.AUTO, False),
        ("bypassPermissions", PermissionMode.ALWAYS_APPROVE, False),
        ("always-approve", PermissionMode.ALWAYS_APPROVE, False),
    ],
)
def test_modes_may_be_spelt_in_either_way(
    layers: Layers, spelling: str, mode: PermissionMode, never_ask: bool
) -> None:
    layers.write(layers.user, f'[permission]\nmode = "{spelling}"\n')
    permission = layers.load().settings.permission
    assert (permission.mode, permission.never_ask) == (mode, never_ask)


SECRET = "sk-very-secret-value"


@pytest.mark.parametrize(
    ("text", "line", "column", "key"),
    [
        (f"[shell]\ntimeout_secs = '{SECRET}'\n", 2, 1, "shell.timeout_secs"),
        (f"\n  [model.x]\n  context_window = '{SECRET}'\n", 3, 3, "model.x.context_window"),
        (f"model.x.price.input = '{SECRET}'\nmodel.x.price.output = 1\n", 1, 1, "model.x.price.input"),
        (f"[model.x]\nprice = {{input = 1, output = '{SECRET}'}}\n", 2, 1, "model.x.price.output"),
        (f"[permission]\nmode = '{SECRET}'\n", 2, 1, "permission.mode"),
        (f"[permission]\ndeny = '{SECRET}'\n", 2, 1, "permission.deny"),
        (f"[model.x]\napi_backend = '{SECRET}'\n", 2, 1, "model.x.api_backend"),
        (f"[model]\nx = '{SECRET}'\n", 2, 1, "model.x"),
        (f"shell = '{SECRET}'\n", 1, 1, "shell"),
        (f"model = '{SECRET}'\n", 1, 1, "model"),
        (f"[model.x]\napi_key = {SECRET}\n", 2, 11, "model.x.api_key"),
        (f'[model.x]\napi_key = "{SECRET}\n', 2, 32, "model.x.api_key"),
        (f"[model.x]\napi_key = '''\n{SECRET}\n", 4, 1, "model.x.api_key"),
        (f"[model.x]\napi_key = '{SECRET}'\napi_key = '{SECRET}'\n", 3, 33, "model.x.api_key"),
    ],
)
def test_an_error_names_file_line_column_and_key_but_never_the_text(
    layers: Layers, text: str, line: int, column: int, key: str
) -> None:
    layers.write(layers.user, text)
    with pytest.raises(ConfigError) as caught:
        layers.load()
    assert f"{layers.user}, line {line}, column {column}: " in caught.value.message
    assert key in caught.value.message
    assert SECRET not in caught.value.message + caught.value.hint + repr(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("table", "key", "wrong", "said"),
    [
        ("session", "max_turns", "-5", "must be at least 0"),
        ("session", "max_turns", "99999999999999999999999", "must be at most 1,000,000"),
        ("shell", "timeout_secs", "0", "must be more than 0"),
        ("shell", "timeout_secs", "nan", "must be more than 0"),
        ("shell", "max_timeout_secs", "inf", "must be at most 31,536,000"),
        ("shell", "output_limit", "-1", "must be at least 1"),
        ("storage", "cleanup_ttl_days", "-1", "must be at least 0"),
        ("compaction.pruning", "hard_clear_age_turns", "0", "must be at least 3"),
        ("model.x", "context_window", "0", "must be at least 1"),
        ("model.x", "max_completion_tokens", "-2", "must be at least 1"),
        ("model.x", "temperature", "-0.5", "must be at least 0"),
        ("model.x", "temperature", "70", "must be at most 2"),
        ("model.x", "top_p", "1.5", "must be at most 1"),
        ("model.x.limits", "connect", "-1", "must be more than 0"),
        ("model.x.limits", "first_byte", "0", "must be more than 0"),
        ("model.x.limits", "between_chunks", "nan", "must be more than 0"),
    ],
)
def test_an_impossible_number_names_its_place_and_what_is_allowed(
    layers: Layers, table: str, key: str, wrong: str, said: str
) -> None:
    layers.write(layers.user, f"[{table}]\n{key} = {wrong}\n")
    with pytest.raises(ConfigError) as caught:
        layers.load()
    assert caught.value.message == f"{layers.user}, line 2, column 1: {table}.{key} {said}"


def test_a_price_below_nothing_is_none(layers: Layers) -> None:
    layers.write(layers.user, "[model.x]\nprice = {input = 1, output = -1}\n")
    with pytest.raises(ConfigError, match=r"line 2, column 1: model.x.price.output must be at least 0"):
        layers.load()


def _numbers(struct: type[msgspec.Struct], at: str) -> list[tuple[str, Any]]:
    """Every field of a record of settings, or of a record in it, that holds a number."""
    found: list[tuple[str, Any]] = []
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    for field in info.fields:
        inner = field.type
        kinds = inner.types if isinstance(inner, msgspec.inspect.UnionType) else (inner,)
        for kind in kinds:
            if isinstance(kind, msgspec.inspect.StructType):
                found += _numbers(kind.cls, f"{at}.{field.name}")
            elif isinstance(kind, msgspec.inspect.IntType | msgspec.inspect.FloatType):
                found.append((f"{at}.{field.name}", kind))
    return found


@pytest.mark.parametrize("struct", [Settings, ModelEntry])
def test_every_number_that_can_be_set_has_a_lowest_and_a_highest_value(struct: type[msgspec.Struct]) -> None:
    numbers = _numbers(struct, struct.__name__)
    assert len(numbers) > 5
    open_ended = [name for name, kind in numbers if (kind.ge is None and kind.gt is None) or kind.le is None]
    assert open_ended == []


def test_a_file_that_is_not_utf8_is_an_error_with_its_place(layers: Layers) -> None:
    layers.write(layers.user, "").write_bytes(b"# x\n# a\xff\n")
    with pytest.raises(ConfigError, match="line 2, column 4: not UTF-8"):
        layers.load()


def test_a_message_cannot_carry_control_characters(layers: Layers) -> None:
    layers.write(layers.user, '"a\\u001b[2J" = 1\n')
    (warning,) = layers.load().warnings
    assert "\x1b" not in warning


def test_without_a_home_the_users_layers_are_empty(layers: Layers) -> None:
    layers.write(layers.user, "[shell]\ntimeout_secs = 3\n")
    layers.write(layers.project / "config.toml", "[shell]\ntimeout_secs = 4\n")
    assert layers.load(home=False).settings.shell.timeout_secs == 120


def test_the_environment_can_ask_for_accessible_output(layers: Layers) -> None:
    loaded = layers.load(env={"ACCESSIBLE": "1"})
    assert loaded.settings.ui.accessible
    assert loaded.origins == {"ui.accessible": "environment ACCESSIBLE"}
    assert not layers.load(env={"ACCESSIBLE": "0"}).settings.ui.accessible
