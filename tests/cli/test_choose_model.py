"""A model server that nobody set up: named before it is used, asked about once, remembered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from grokmini.cli.choose_model import Found, NoModelError, choose_model, confirm_model, find_model
from grokmini.cli.options import Options
from grokmini.cli.root import Root, load_root
from grokmini.protocol.errors import UsageError
from grokmini.sampler.catalogue import ModelCatalogue, load_providers
from tests.fakes.model_server import ModelServer, Reply
from tests.waiting import SECONDS


def as_json(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers={"content-type": "application/json"})


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server that names itself, with one model, running with a window of 8,192 tokens."""
    monkeypatch.setattr("grokmini.sampler.local.DISCOVERY_SECONDS", SECONDS)
    running = {"models": [{"name": "qwen", "model": "qwen", "context_length": 8192}]}
    routes = {"/api/version": as_json({"version": "0.12.0"}), "/api/ps": as_json(running)}
    with ModelServer(models=["qwen"], routes=routes) as server:
        yield server


def root_at(home: Path, server: ModelServer) -> Root:
    """What a process in that home has, with the server on Ollama's port."""
    env = {"HOME": str(home)}
    row = msgspec.structs.replace(load_providers()["ollama"], base_url=server.url)
    root = load_root(Options(cwd=str(home)), env)
    return root._replace(catalogue=ModelCatalogue({}, env, {"ollama": row}))


async def test_a_run_without_a_person_says_which_one_it_uses_and_goes_on(
    ollama: ModelServer, fresh_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = await choose_model(root_at(fresh_home, ollama))
    assert (spec.name, spec.base_url, spec.context_window) == ("ollama/qwen", ollama.url, 8192)
    said = capsys.readouterr().err
    assert said == f"using ollama/qwen (Ollama on {ollama.url}); --model NAME chooses another\n"
    assert list(fresh_home.iterdir()) == []


async def test_a_person_is_asked_once_and_the_yes_is_remembered(
    ollama: ModelServer, fresh_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = root_at(fresh_home, ollama)
    found = await find_model(root)
    assert isinstance(found, Found)
    assert found.server == f"Ollama on {ollama.url}"
    assert confirm_model(root, found, lambda: "y\n") == found.spec
    assert ollama.url in capsys.readouterr().err

    again = root_at(fresh_home, ollama)
    assert again.settings.models.default == "ollama/qwen"
    found = await find_model(again)
    assert isinstance(found, Found)
    assert (found.server, found.spec.name, found.spec.context_window) == ("", "ollama/qwen", 8192)

    def nobody() -> str:
        raise AssertionError("asked again")

    assert confirm_model(again, found, nobody) == found.spec


@pytest.mark.parametrize("typed", ["n\n", "\n", ""])
async def test_anything_but_a_yes_leaves_and_changes_nothing(
    ollama: ModelServer, fresh_home: Path, typed: str
) -> None:
    root = root_at(fresh_home, ollama)
    with pytest.raises(NoModelError) as caught:
        confirm_model(root, await find_model(root), lambda: typed)
    assert "grokmini demo" in caught.value.hint
    assert list(fresh_home.iterdir()) == []


async def test_a_remembered_server_that_is_gone_is_used_as_it_is_written(fresh_home: Path) -> None:
    """The request will say that nobody answers."""
    with ModelServer() as server:
        root = root_at(fresh_home, server)
    root = root._replace(options=Options(model="ollama/qwen"))
    assert await find_model(root) == Found(root.catalogue.find("ollama/qwen"))


def test_without_a_home_a_yes_counts_for_this_time(fresh_home: Path) -> None:
    with ModelServer() as server:
        root = root_at(fresh_home, server)._replace(places=None)
    found = Found(root.catalogue.find("ollama/qwen"), "Ollama on a port")
    assert confirm_model(root, found, lambda: "yes\n") == found.spec


@pytest.fixture
def two_models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server that names itself, with two models, none of them running."""
    monkeypatch.setattr("grokmini.sampler.local.DISCOVERY_SECONDS", SECONDS)
    routes = {"/api/version": as_json({"version": "0.12.0"}), "/api/ps": as_json({"models": []})}
    with ModelServer(models=["tinyllama:latest", "gemma3:4b"], routes=routes) as server:
        yield server


@pytest.mark.parametrize(
    "typed",
    [
        ["2\n"],
        ["ollama/gemma3:4b\n"],
        ["gemma3:4b\n"],
        ["gem\n"],
        ["7\n", "0\n", "nope\n", "ollama\n", " 2 \n"],
    ],
)
async def test_of_several_models_a_person_picks_one_once(
    two_models: ModelServer, fresh_home: Path, capsys: pytest.CaptureFixture[str], typed: list[str]
) -> None:
    root = root_at(fresh_home, two_models)
    lines = iter(typed)
    spec = confirm_model(root, await find_model(root), lambda: next(lines))
    assert (spec.name, spec.base_url, list(lines)) == ("ollama/gemma3:4b", two_models.url, [])
    said = capsys.readouterr().err
    assert "  1  ollama/tinyllama:latest\n  2  ollama/gemma3:4b\n" in said
    assert said.count("is none of them") == len(typed) - 1

    again = root_at(fresh_home, two_models)
    found = await find_model(again)
    assert isinstance(found, Found)
    assert (found.server, found.spec.name) == ("", "ollama/gemma3:4b")


@pytest.mark.parametrize("typed", ["\n", ""])
async def test_who_picks_none_leaves_and_changes_nothing(
    two_models: ModelServer, fresh_home: Path, typed: str
) -> None:
    root = root_at(fresh_home, two_models)
    with pytest.raises(NoModelError):
        confirm_model(root, await find_model(root), lambda: typed)
    assert list(fresh_home.iterdir()) == []


async def test_without_a_person_several_models_need_the_flag(two_models: ModelServer, fresh_home: Path) -> None:
    with pytest.raises(NoModelError) as caught:
        await choose_model(root_at(fresh_home, two_models))
    assert caught.value.message == "several local models are there: ollama/tinyllama:latest, ollama/gemma3:4b"
    assert "--model ollama/tinyllama:latest" in caught.value.hint


@pytest.mark.parametrize("name", ["gemma3:4b", "tinyllama"])
async def test_a_model_on_this_machine_needs_no_name_of_its_server(
    two_models: ModelServer, fresh_home: Path, name: str
) -> None:
    root = root_at(fresh_home, two_models)._replace(options=Options(model=name))
    spec = await choose_model(root)
    assert spec.name.startswith(f"ollama/{name}")


async def test_a_mistyped_model_on_this_machine_is_named(two_models: ModelServer, fresh_home: Path) -> None:
    root = root_at(fresh_home, two_models)._replace(options=Options(model="gema3:4b"))
    with pytest.raises(UsageError) as caught:
        await choose_model(root)
    assert caught.value.hint.startswith("On this machine: ollama/gemma3:4b. ")


async def test_a_name_that_only_looks_like_a_providers_may_be_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, fresh_home: Path
) -> None:
    monkeypatch.setattr("grokmini.sampler.local.DISCOVERY_SECONDS", SECONDS)
    with ModelServer(models=["gpt-oss:20b"], routes={"/api/version": as_json({"version": "1"})}) as server:
        for env, name in (({}, "ollama/gpt-oss:20b"), ({"OPENAI_API_KEY": "k"}, "gpt-oss:20b")):
            root = root_at(fresh_home, server)
            rows = {"openai": load_providers()["openai"], **root.catalogue.providers}
            catalogue = ModelCatalogue({}, env, rows)
            found = root._replace(options=Options(model="gpt-oss:20b"), catalogue=catalogue)
            assert (await choose_model(found)).name == name
