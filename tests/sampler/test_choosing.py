"""Which model is taken, where it is, and where its key comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol.errors import SampleError, SampleErrorKind, UsageError
from grokmini.protocol.model import ModelEntry, Price, Supports, SupportsEntry
from grokmini.sampler.backends import BACKENDS, load_backend
from grokmini.sampler.catalogue import ModelCatalogue, clean_base_url, load_providers
from grokmini.sampler.choose import (
    AskServer,
    Choice,
    Chosen,
    LocalServer,
    NoModel,
    SeveralLocal,
    choose,
    local_by_name,
)
from grokmini.sampler.credentials import NO_KEY, Credential

KEYS = {
    "XAI_API_KEY": "x",
    "OPENAI_API_KEY": "o",
    "ANTHROPIC_API_KEY": "a",
    "OPENROUTER_API_KEY": "r",
}
ENTRY = ModelEntry(model="big", base_url="http://box:8080/v1/", api_key="literal")
OLLAMA = LocalServer("ollama", "Ollama", "http://127.0.0.1:11434/v1", ("a", "b"), (), {"b": 4096})


def chosen(
    env: dict[str, str] | None = None,
    *,
    flag: str = "",
    default: str = "",
    entries: dict[str, ModelEntry] | None = None,
    local: tuple[LocalServer, ...] = (),
) -> Choice:
    env = env or {}
    return choose(ModelCatalogue(entries or {}, env), flag=flag, default=default, env=env, local=local)


def picked(choice: Choice) -> Chosen:
    assert isinstance(choice, Chosen)
    return choice


async def test_the_flag_beats_everything() -> None:
    env = {**KEYS, "GROKMINI_MODEL": "other", "GROKMINI_BASE_URL": "http://env/v1"}
    found = picked(chosen(env, flag="work", default="xai", entries={"work": ENTRY}))
    assert (found.spec.name, found.spec.model, found.spec.base_url) == ("work", "big", "http://box:8080/v1")
    assert (found.reason, await found.credential.key()) == ("--model", "literal")


async def test_the_environment_beats_settings_and_provider_keys() -> None:
    env = {**KEYS, "GROKMINI_MODEL": "mine", "GROKMINI_BASE_URL": "http://env/v1", "GROKMINI_API_KEY": "g"}
    found = picked(chosen(env, default="xai"))
    assert (found.spec.model, found.spec.base_url) == ("mine", "http://env/v1")
    assert (found.credential.source, await found.credential.key()) == ("GROKMINI_API_KEY", "g")


async def test_a_base_url_without_a_model_has_to_be_asked() -> None:
    found = chosen({"GROKMINI_BASE_URL": "http://env/v1/chat/completions", "GROKMINI_API_KEY": "g"})
    assert isinstance(found, AskServer)
    assert (found.base_url, await found.credential.key()) == ("http://env/v1", "g")


def test_the_default_of_the_settings_beats_provider_keys() -> None:
    assert picked(chosen(KEYS, default="claude-x")).spec.provider == "anthropic"


def test_provider_keys_are_tried_in_their_order() -> None:
    left = dict(KEYS)
    order = []
    while left:
        order.append(picked(chosen(left)).spec.provider)
        del left[next(iter(left))]
    assert order == ["xai", "openai", "anthropic", "openrouter"]


def test_a_blank_key_is_none() -> None:
    assert isinstance(chosen({"XAI_API_KEY": " "}), NoModel)


def test_xai_stands_for_its_main_model() -> None:
    assert picked(chosen({"XAI_API_KEY": "x"})).spec.model == "grok-4.5"


def test_a_local_server_with_one_model_or_one_loaded_is_taken_with_its_window() -> None:
    single = OLLAMA._replace(models=("b",))
    loaded = OLLAMA._replace(loaded=("b",))
    for server in (single, loaded):
        found = picked(chosen(local=(server,)))
        assert (found.spec.model, found.spec.name, found.spec.context_window) == ("b", "ollama/b", 4096)
        assert found.credential is NO_KEY


def test_several_local_models_are_for_the_person_to_choose() -> None:
    found = chosen(local=(OLLAMA,))
    assert isinstance(found, SeveralLocal)
    assert found.names == ("ollama/a", "ollama/b")


def test_of_several_loaded_ones_none_is_taken_and_they_come_first() -> None:
    found = chosen(local=(OLLAMA._replace(models=("x", "a", "b"), loaded=("a", "b")),))
    assert isinstance(found, SeveralLocal)
    assert found.names == ("ollama/a", "ollama/b", "ollama/x")


def test_a_loaded_model_of_another_server_is_taken_before_one_that_is_alone_on_its_own() -> None:
    other = LocalServer("vllm", "vLLM", "http://127.0.0.1:8000/v1", ("served",), ("served",))
    found = picked(chosen(local=(OLLAMA._replace(models=("a",)), other)))
    assert found.spec.name == "vllm/served"


def test_a_model_that_turns_texts_into_numbers_is_none_to_talk_to() -> None:
    found = picked(chosen(local=(OLLAMA._replace(models=("nomic-embed-text:latest", "b")),)))
    assert found.spec.name == "ollama/b"


@pytest.mark.parametrize(
    ("name", "meant", "near"),
    [
        ("gemma3:4b", "ollama/gemma3:4b", []),
        ("tiny", "ollama/tiny:latest", []),
        ("gema3:4b", "", ["ollama/gemma3:4b"]),
        ("twice", "", ["ollama/twice", "vllm/twice"]),
        ("zzzzzz", "", ["ollama/gemma3:4b", "ollama/tiny:latest", "ollama/twice", "vllm/twice"]),
    ],
)
def test_a_model_on_this_machine_is_known_without_its_servers_name(
    name: str, meant: str, near: list[str]
) -> None:
    mine = OLLAMA._replace(models=("gemma3:4b", "tiny:latest", "twice"))
    other = LocalServer("vllm", "vLLM", "http://127.0.0.1:8000/v1", ("twice",))
    found, others = local_by_name(ModelCatalogue({}, {}), (mine, other), name)
    assert ((found.spec.name if found else ""), others) == (meant, near)


def test_a_local_server_without_models_is_told() -> None:
    found = chosen(local=(OLLAMA._replace(models=()),))
    assert isinstance(found, NoModel)
    assert "Ollama" in found.message


def test_without_anything_three_lines_say_how_to_connect() -> None:
    found = chosen()
    assert isinstance(found, NoModel)
    lines = found.hint.splitlines()
    assert len(lines) == 3
    assert all(name in lines[0] for name in ("XAI_API_KEY", "OPENAI_", "ANTHROPIC_", "OPENROUTER_"))
    assert max(map(len, lines)) < 78
    assert "local server" in lines[1]
    assert "grokmini demo" in lines[2]


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("xai", "xai", "grok-4.5"),
        ("xai/grok-9", "xai", "grok-9"),
        ("grok-9", "xai", "grok-9"),
        ("gpt-9", "openai", "gpt-9"),
        ("claude-9", "anthropic", "claude-9"),
        ("openrouter/x-ai/grok-9", "openrouter", "x-ai/grok-9"),
        ("ollama/qwen:8b", "ollama", "qwen:8b"),
        ("demo", "demo", "demo"),
    ],
)
def test_names_find_their_provider(name: str, provider: str, model: str) -> None:
    spec = ModelCatalogue({}, {}).find(name)
    assert (spec.provider, spec.model) == (provider, model)


def test_the_name_of_a_spec_finds_the_same_spec_again() -> None:
    catalogue = ModelCatalogue({"work": ENTRY}, {})
    for name in ("xai", "xai/grok-9", "grok-9", "ollama/q", "work", "demo", "openrouter"):
        spec = catalogue.find(name)
        if spec.name != "x-ai/grok-4.5":
            assert catalogue.find(spec.name) == spec


def test_an_unknown_name_names_near_ones() -> None:
    with pytest.raises(UsageError) as caught:
        ModelCatalogue({"workhorse": ENTRY}, {}).find("workhose")
    assert "workhorse" in caught.value.hint


@pytest.mark.parametrize("name", ["ollama", "nothing", "zzz/y"])
def test_names_without_a_model_are_unknown(name: str) -> None:
    with pytest.raises(UsageError):
        ModelCatalogue({}, {}).find(name)


def test_entries_of_the_user_carry_everything_into_the_spec() -> None:
    entry = ModelEntry(
        model="m",
        base_url="http://h/v1",
        api_backend="chat_completions",
        context_window=9,
        max_completion_tokens=8,
        temperature=0.5,
        top_p=0.6,
        reasoning_effort="low",
        extra_headers={"a": "b"},
        env_http_headers={"c": "D"},
        query_params={"e": "f"},
        supports=SupportsEntry(images=True),
        price=Price(1.0, 2.0),
    )
    spec = ModelCatalogue({"e": entry}, {}).find("e")
    for field in (
        "context_window",
        "temperature",
        "top_p",
        "reasoning_effort",
        "extra_headers",
        "env_http_headers",
    ):
        assert getattr(spec, field) == getattr(entry, field)
    assert (spec.query_params, spec.supports, spec.price) == (
        entry.query_params,
        Supports(images=True),
        entry.price,
    )
    assert (spec.name, spec.max_output_tokens) == ("e", 8)


async def test_an_entry_for_a_known_model_needs_neither_address_nor_key() -> None:
    catalogue = ModelCatalogue({"fast": ModelEntry(model="grok-9", temperature=0.0)}, KEYS)
    spec = catalogue.find("fast")
    assert (spec.base_url, spec.model) == ("https://api.x.ai/v1", "grok-9")
    assert await catalogue.credential(spec).key() == "x"


def test_an_entry_named_like_a_model_that_is_found_by_itself_changes_it() -> None:
    entry = ModelEntry(supports=SupportsEntry(tools=False), context_window=8192)
    catalogue = ModelCatalogue({"ollama/gemma3:4b": entry}, {})
    plain, spec = ModelCatalogue({}, {}).find("ollama/gemma3:4b"), catalogue.find("ollama/gemma3:4b")
    assert (spec.name, spec.model, spec.base_url, spec.provider) == (
        plain.name, plain.model, plain.base_url, "ollama",
    )  # fmt: skip
    assert (spec.supports, spec.context_window) == (Supports(tools=False), 8192)
    assert catalogue.credential(spec) is NO_KEY
    server = LocalServer("ollama", "Ollama", plain.base_url, ("gemma3:4b",), (), {"gemma3:4b": 4096})
    found = picked(choose(catalogue, env={}, local=(server,)))
    assert (found.spec.supports.tools, found.spec.context_window) == (False, 8192)


async def test_an_entry_says_only_what_is_other_than_known() -> None:
    entries = {"anthropic": ModelEntry(supports=SupportsEntry(stream_usage=False))}
    catalogue = ModelCatalogue(entries, KEYS)
    spec, plain = catalogue.find("anthropic"), ModelCatalogue({}, KEYS).find("anthropic")
    assert spec.supports == Supports(images=True, stream_usage=False)
    assert (spec.model, spec.context_window, spec.limits) == (plain.model, plain.context_window, plain.limits)
    assert await catalogue.credential(spec).key() == "a"


async def test_an_entry_named_like_the_model_of_the_environment_changes_it() -> None:
    env = {"GROKMINI_BASE_URL": "http://env/v1", "GROKMINI_MODEL": "t", "GROKMINI_API_KEY": "g"}
    found = picked(chosen(env, entries={"t": ModelEntry(supports=SupportsEntry(tools=False))}))
    assert (found.spec.base_url, found.spec.supports.tools) == ("http://env/v1", False)
    assert await found.credential.key() == "g"


def test_the_demonstration_stays_what_it_is() -> None:
    assert ModelCatalogue({"demo": ENTRY}, {}).find("demo") == ModelCatalogue({}, {}).find("demo")


def test_an_entry_without_an_address_for_an_unknown_model_says_so() -> None:
    with pytest.raises(UsageError, match=r"\[model\.odd\]"):
        ModelCatalogue({"odd": ModelEntry(model="odd")}, {}).find("odd")


@pytest.mark.parametrize(
    ("entry", "env", "key", "source"),
    [
        (ModelEntry(base_url="http://h", api_key="k"), {}, "k", "api_key of [model.e]"),
        (ModelEntry(base_url="http://h", env_key="A"), {"A": "k"}, "k", "A"),
        (ModelEntry(base_url="http://h", env_key=("A", "B")), {"B": "k"}, "k", "A or B"),
        (ModelEntry(base_url="http://h", api_key_command="echo k"), {}, "k", "api_key_command of [model.e]"),
        (ModelEntry(base_url="http://h", env_key="A", api_key_command="echo k"), {"A": "v"}, "v", "A"),
        (ModelEntry(base_url="http://h"), KEYS | {"GROKMINI_API_KEY": "g"}, "", ""),
        (ModelEntry(model="grok-9", base_url="http://h"), KEYS, "", ""),
    ],
)  # fmt: skip
async def test_keys_come_from_where_the_entry_says(
    entry: ModelEntry, env: dict[str, str], key: str, source: str
) -> None:
    catalogue = ModelCatalogue({"e": entry}, env)
    credential = catalogue.credential(catalogue.find("e"))
    assert (await credential.key(), credential.source) == (key, source)


async def test_the_key_of_one_address_never_goes_to_another() -> None:
    env = {**KEYS, "GROKMINI_BASE_URL": "http://elsewhere/v1", "GROKMINI_API_KEY": "g"}
    catalogue = ModelCatalogue({}, env)
    provider = catalogue.find("xai")
    assert (provider.base_url, await catalogue.credential(provider).key()) == ("https://api.x.ai/v1", "x")
    custom = catalogue.find("grok-9")
    assert (custom.base_url, await catalogue.credential(custom).key()) == ("http://elsewhere/v1", "g")


async def test_a_general_key_serves_a_provider_while_no_other_address_is_set() -> None:
    catalogue = ModelCatalogue({}, {"GROKMINI_API_KEY": "g"})
    assert await catalogue.credential(catalogue.find("grok-4.5")).key() == "g"


async def test_a_key_that_is_missing_is_an_error_that_names_it() -> None:
    catalogue = ModelCatalogue({}, {})
    with pytest.raises(SampleError) as caught:
        await catalogue.credential(catalogue.find("xai")).key()
    assert (caught.value.kind, caught.value.hint) == (SampleErrorKind.AUTH, "Set XAI_API_KEY.")


@pytest.mark.parametrize("bad", ["two\nlines", "umläut", "tab\there", "a\x1b[0m"])
async def test_a_key_that_cannot_be_one_is_refused_without_showing_it(bad: str) -> None:
    with pytest.raises(SampleError) as caught:
        await Credential("X", literal=bad).key()
    assert bad not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("command", "what"), [("exit 3", "code 3"), ("true", "nothing"), ("no-such-cmd", "127")]
)
async def test_a_command_that_gives_no_key_says_what_happened(command: str, what: str) -> None:
    with pytest.raises(SampleError) as caught:
        await Credential("the command", command=command).key()
    assert caught.value.kind is SampleErrorKind.AUTH
    assert what in caught.value.message


async def test_a_command_runs_once_until_a_fresh_key_is_wanted(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    credential = Credential("the command", command=f"echo x >> {file}; wc -l < {file}")
    keys = [await credential.key(), await credential.key(), await credential.key(fresh=True)]
    assert keys == ["1", "1", "2"]


def test_keys_are_in_no_repr() -> None:
    catalogue = ModelCatalogue(
        {"e": ModelEntry(base_url="http://h", api_key="sk-secret")}, {"XAI_API_KEY": "sk-x"}
    )
    found = choose(catalogue, flag="e", env={})
    assert "sk-" not in repr(found) + repr(catalogue) + repr(ENTRY)


@pytest.mark.parametrize(
    "url", ["http://h/v1", "http://h/v1/", " http://h/v1 ", "http://h/v1/chat/completions", "http://h/v1/chat/completions/"]
)  # fmt: skip
def test_addresses_are_cleaned(url: str) -> None:
    assert clean_base_url(url) == "http://h/v1"


def test_every_row_of_the_catalogue_is_usable() -> None:
    for row in load_providers().values():
        assert row.base_url == clean_base_url(row.base_url)
        assert row.api_backend in BACKENDS
        assert row.local or (row.model and row.keys and row.base_url.startswith("https://"))
        assert row.local or row.window >= 100_000


def test_backends_of_later_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="messages"):
        load_backend("messages", lambda: pytest.fail("no connection is needed"))
