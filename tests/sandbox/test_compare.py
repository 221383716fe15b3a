"""What a policy grants more than another, in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.sandbox.compare import grants_more
from grokmini.sandbox.plan import is_unconfined
from grokmini.sandbox.policy import Limits, Policy

PLACES = tuple(
    f"/{first}{rest}" for first in "ab" for rest in ("", "/x", "/x/y", "/x/y/z", "/xx", "/w")
)  # none of these is on any disk
WORKSPACE = Policy("workspace", write_roots=("/a/x",), temp=("/tmp",), protected=("/a/x/.git/hooks",))

some_places = st.lists(st.sampled_from(PLACES), max_size=3).map(tuple)
policies = st.builds(
    Policy,
    profile=st.just("p"),
    read_all=st.booleans(),
    read_roots=some_places,
    write_all=st.booleans(),
    write_roots=some_places,
    protected=some_places,
    denied=some_places,
    network=st.sampled_from(("open", "blocked")),
    allow_unix=st.booleans(),
    limits=st.builds(Limits, nproc=st.sampled_from((None, 10, 20))),
)


def below(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def allowed(policy: Policy) -> Iterator[str]:
    """Everything a policy allows in this small world, by going through all of it."""
    for path in ("/", *PLACES, *(f"{place}/q" for place in PLACES)):
        writable = policy.write_all or below(path, policy.write_roots)
        if writable and not below(path, (*policy.protected, *policy.denied)):
            yield f"write {path}"
        readable = policy.read_all or writable or below(path, (*policy.read_roots, *policy.write_roots))
        if readable and not below(path, policy.denied):
            yield f"read {path}"
    if policy.network == "open":
        yield "network"
    if policy.network == "open" or policy.allow_unix:
        yield "sockets"
    yield from (f"process {n}" for n in range(30) if policy.limits.nproc is None or n < policy.limits.nproc)


@settings(max_examples=400)
@given(new=policies, old=policies)
def test_something_is_named_exactly_when_something_is_granted(new: Policy, old: Policy) -> None:
    granted = set(allowed(new)) - set(allowed(old))
    assert bool(grants_more(new, old)) == bool(granted)


@settings(max_examples=100)
@given(policy=policies)
def test_nothing_grants_more_than_itself_and_no_confinement_grants_more_than_any(policy: Policy) -> None:
    assert grants_more(policy, policy) == ()
    assert grants_more(policy, None) == ()
    assert len(grants_more(None, policy)) == 1
    assert grants_more(None, None) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"write_roots": ("/a/x", "/b")}, "write in /b"),
        ({"write_all": True}, "write in the whole disk"),
        ({"protected": ()}, "write in /a/x/.git/hooks"),
        ({"write_roots": tuple(f"/b/{n}" for n in range(5))}, "write in /b/0, /b/1, /b/2 and 2 more"),
        ({"limits": Limits(nproc=None)}, "use more processes"),
    ],
)
def test_what_is_granted_is_said_by_place(changes: dict[str, object], said: str) -> None:
    assert grants_more(dataclasses.replace(WORKSPACE, **changes), WORKSPACE) == (said,)  # type: ignore[arg-type]


def test_network_hidden_paths_and_reading_are_said() -> None:
    strict = Policy("strict", read_all=False, read_roots=("/usr",), network="blocked", denied=("/usr/secret",))
    free = Policy("free", network="open")
    assert grants_more(free, strict) == ("read the whole disk", "use the network")
    assert grants_more(dataclasses.replace(strict, denied=()), strict) == ("read /usr/secret",)
    local = dataclasses.replace(strict, allow_unix=True)
    assert grants_more(local, strict) == ("talk to local programs through sockets",)


def test_a_pattern_that_no_longer_hides_what_comes_is_said() -> None:
    old = Policy("mine", denied_globs=("/a/x/**/*.key",))
    assert grants_more(Policy("mine"), old) == ("read what matches /a/x/**/*.key",)
    assert grants_more(old, old) == ()
    elsewhere = Policy("mine", read_all=False, read_roots=("/b",))
    assert grants_more(elsewhere, old) == ()


def test_a_policy_that_allows_everything_is_no_confinement() -> None:
    assert is_unconfined(Policy("off", write_all=True))
    assert grants_more(Policy("off", write_all=True, limits=WORKSPACE.limits), WORKSPACE)
