"""What tools need of each other, checked at start: small boolean expressions that can say why they fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

import msgspec


class Facts(msgspec.Struct, frozen=True):
    """What a set of tools is like: ids present, settings by name."""

    tools: Collection[str]
    settings: Mapping[str, bool]


class Requirement(Protocol):
    """A condition on a set of tools."""

    def holds(self, facts: Facts) -> bool:
        """Whether the condition is met."""

    def describe(self) -> str:
        """The condition in plain words, to stand after "needs"."""


class Present(msgspec.Struct, frozen=True):
    """A tool is in the set."""

    tool: str

    def holds(self, facts: Facts) -> bool:
        """Whether it is."""
        return self.tool in facts.tools

    def describe(self) -> str:
        """Such as "the tool read_file"."""
        return f"the tool {self.tool}"


class Setting(msgspec.Struct, frozen=True):
    """A setting of `[tools]` has a value."""

    name: str
    value: bool = True

    def holds(self, facts: Facts) -> bool:
        """Whether it has; a setting not given is false."""
        return facts.settings.get(self.name, False) == self.value

    def describe(self) -> str:
        """Such as "the setting [tools] skip_read_before_edit = true"."""
        return f"the setting [tools] {self.name} = {'true' if self.value else 'false'}"


class Constant(msgspec.Struct, frozen=True):
    """Always or never."""

    value: bool

    def holds(self, facts: Facts) -> bool:
        """The value."""
        return self.value

    def describe(self) -> str:
        """In words."""
        return "nothing" if self.value else "something that cannot be had"


class Not(msgspec.Struct, frozen=True):
    """The opposite."""

    part: Requirement

    def holds(self, facts: Facts) -> bool:
        """Whether the part does not hold."""
        return not self.part.holds(facts)

    def describe(self) -> str:
        """In words."""
        return f"that there is not {self.part.describe()}"


class All(msgspec.Struct, frozen=True):
    """Every part."""

    parts: tuple[Requirement, ...]

    def holds(self, facts: Facts) -> bool:
        """Whether all hold."""
        return all(part.holds(facts) for part in self.parts)

    def describe(self) -> str:
        """Joined by "and"."""
        return " and ".join(part.describe() for part in self.parts)


class Any(msgspec.Struct, frozen=True):
    """At least one part."""

    parts: tuple[Requirement, ...]

    def holds(self, facts: Facts) -> bool:
        """Whether one holds."""
        return any(part.holds(facts) for part in self.parts)

    def describe(self) -> str:
        """Joined by "or"."""
        return " or ".join(part.describe() for part in self.parts)


NOTHING: Requirement = Constant(True)


def requirement_of(tool_id: str) -> Requirement:
    """What the built-in tool of that id needs: what exists is only changed once it has been read."""
    if tool_id in ("search_replace", "write"):
        return Any((Present("read_file"), Setting("skip_read_before_edit")))
    return NOTHING
