"""A module holds one idea, a function fits a screen."""

from __future__ import annotations

from tests.house.sources import PARSED_ONCE, sources

pytestmark = PARSED_ONCE

MODULE_LINES = 500
FUNCTION_LINES = 60


def test_no_module_is_longer_than_500_lines() -> None:
    long = [
        (source.path, source.text.count("\n")) for source in sources() if source.text.count("\n") > MODULE_LINES
    ]
    assert long == []


def test_no_function_is_longer_than_60_lines() -> None:
    long = []
    for source in sources():
        for node in source.functions():
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > FUNCTION_LINES:
                long.append(f"{source.path}:{node.lineno} {node.name}: {size}")
    assert long == []
