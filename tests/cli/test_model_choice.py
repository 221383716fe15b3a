"""What `/model` and `grokmini models` list, complete and take."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from grokmini.cli.model_choice import ModelChoice
from grokmini.cli.model_lists import ModelLists
from grokmini.cli.models import in_use, look_around, rows
from grokmini.cli.options import Options
from grokmini.cli.root import Root, load_root
from grokmini.protocol.errors import UsageError
from grokmini.sampler.catalogue import ModelCatalogue, load_providers
from tests.fakes.model_server import ModelServer, Reply, failure
from tests.waiting import SECONDS


def as_json(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers={"content-type": "application/json"})


def root_at(home: Path, ollama: ModelServer | None = None, **env: str) -> Root:
    """What a process in that home has: xAI, and Ollama if it is given, are all the providers it knows."""
    every = {"HOME": str(home), **env}
    root, known = load_root(Options(cwd=str(home)), every), load_providers()
    providers = {"xai": known["xai"]}
    if ollama is not None:
        providers["ollama"] = msgspec.structs.replace(known["ollama"], base_url=ollama.url)
    entries = {name: root.catalogue.entry(name) for name in root.catalogue.entries}
    return root._replace(catalogue=ModelCatalogue(entries, every, providers))


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grokmini.sampler.local.DISCOVERY_SECONDS", SECONDS)
    monkeypatch.setattr("grokmini.cli.model_lists.ASK_SECONDS", SECONDS)


OLLAMA = {"/api/version": as_json({"version": "1"}), "/api/ps": as_json({"models": []})}


async def test_everything_that_can_be_chosen_is_listed_once_with_the_one_in_use_marked(
    patient: None, fresh_home: Path
) -> None:
    config = fresh_home / ".config" / "grokmini"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[model.work]\nbase_url = "http://127.0.0.1:9/v1"\n')
    with ModelServer(models=["a", "b"]) as server, ModelServer(models=["q"], routes=OLLAMA) as ollama:
        env = {"GROKMINI_BASE_URL": server.url, "GROKMINI_MODEL": "b", "XAI_API_KEY": "x"}
        root = root_at(fresh_home, ollama, **env)
        around = await look_around(root, ModelLists(root.places))
        found = list(rows(root, around, in_use(root, around)))
    assert [row.name for row in found] == ["work", "b", "a", "xai", "ollama/q", "demo"]
    assert [row.name for row in found if row.in_use] == ["b"]
    assert all(row.usable for row in found)


async def test_the_model_of_a_key_is_marked_under_its_providers_name(patient: None, fresh_home: Path) -> None:
    root = root_at(fresh_home, XAI_API_KEY="x")
    around = await look_around(root, ModelLists(root.places))
    assert [row.name for row in rows(root, around, in_use(root, around)) if row.in_use] == ["xai"]


async def test_a_session_lists_what_the_server_has_and_the_model_it_came_from(
    patient: None, fresh_home: Path
) -> None:
    with ModelServer(models=["a", "b"]) as server:
        choice = ModelChoice(root_at(fresh_home, GROKMINI_BASE_URL=server.url, GROKMINI_MODEL="a"))
        choice.had("xai/old")
        choice.had("a")
        assert list(choice.names()) == ["a", "demo", "xai/old"]
        assert server.requests == []
        assert list(await choice.look()) == ["a", "b", "demo", "xai/old"]
        again = ModelChoice(root_at(fresh_home, GROKMINI_BASE_URL=server.url, GROKMINI_MODEL="a"))
        assert list(again.names()) == ["a", "b", "demo"]


async def test_a_model_that_a_session_runs_with_stands_for_its_provider(
    patient: None, fresh_home: Path
) -> None:
    choice = ModelChoice(root_at(fresh_home, XAI_API_KEY="x"))
    assert list(choice.names()) == ["xai", "demo"]
    choice.had("grok-4.5")
    assert list(choice.names()) == ["demo", "grok-4.5"]


async def test_a_name_that_the_server_does_not_list_is_doubted_once_with_the_nearest(
    patient: None, fresh_home: Path
) -> None:
    with ModelServer(models=["alpha-1", "beta"]) as server:
        root = root_at(fresh_home, GROKMINI_BASE_URL=server.url)
        choice = ModelChoice(root)
        host = server.url.removeprefix("http://").removesuffix("/v1")
        assert await choice.meant("alpha-2") == ("alpha-2", f"{host} does not list alpha-2; near: alpha-1")
        assert await choice.meant("alpha-2") == ("alpha-2", "")
        assert await choice.meant("alpha-1") == ("alpha-1", "")
        assert await choice.meant("demo") == ("demo", "")
        doubt = ModelLists(root.places).doubt(root.catalogue.find("zzz"))
        assert doubt == f"{host} does not list zzz; it has: alpha-1, beta"


async def test_a_model_that_came_since_is_not_doubted(patient: None, fresh_home: Path) -> None:
    with ModelServer(models=["old"]) as server:
        root = root_at(fresh_home, GROKMINI_BASE_URL=server.url)
        lists = ModelLists(root.places)
        await lists.ask(root.catalogue.find("x"), root.catalogue.credential(root.catalogue.find("x")))
        server._models = ["old", "new"]
        assert await ModelChoice(root).meant("new") == ("new", "")


async def test_a_server_without_a_list_doubts_nothing(patient: None, fresh_home: Path) -> None:
    with ModelServer(routes={"/v1/models": failure(404)}) as server:
        root = root_at(fresh_home, GROKMINI_BASE_URL=server.url)
        assert await ModelChoice(root).meant("any") == ("any", "")


async def test_a_model_on_this_machine_is_meant_without_its_servers_name(
    patient: None, fresh_home: Path
) -> None:
    with ModelServer(models=["gemma3:4b"], routes=OLLAMA) as ollama:
        choice = ModelChoice(root_at(fresh_home, ollama))
        assert await choice.meant("gemma3:4b") == ("ollama/gemma3:4b", "")
        with pytest.raises(UsageError) as caught:
            await choice.meant("gema3:4b")
    assert caught.value.hint.startswith("On this machine: ollama/gemma3:4b. ")


def test_a_list_that_cannot_be_read_counts_as_none(fresh_home: Path) -> None:
    root = root_at(fresh_home, GROKMINI_BASE_URL="http://127.0.0.1:9/v1")
    assert root.places is not None
    root.places.cache.mkdir(parents=True)
    for broken in (b"nonsense", b"[]", b'{"http://127.0.0.1:9/v1": [1]}', b'{"http://127.0.0.1:9/v1": {}}'):
        (root.places.cache / "models.json").write_bytes(broken)
        assert ModelLists(root.places).doubt(root.catalogue.find("x")) == ""
