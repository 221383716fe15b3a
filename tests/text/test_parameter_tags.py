"""Parameters in tags are read in order, and what stands around them is told."""

from __future__ import annotations

import pytest

from grokmini.text.parameter_tags import read_parameters


@pytest.mark.parametrize(
    ("text", "found", "around"),
    [
        ("<parameter=a>\n1\n</parameter> <parameter=b>2</parameter>", {"a": "1", "b": "2"}, " "),
        ("x<parameter=a>\n\nkept\n\n</parameter>y", {"a": "\nkept\n"}, "xy"),
        ("<parameter=a><parameter=b></parameter>", {"a": "<parameter=b>"}, ""),
        ("<parameter=a>cut off", {}, "<parameter=a>cut off"),
        ("<parameter=1>no name</parameter>", {}, "<parameter=1>no name</parameter>"),
        ("", {}, ""),
    ],
)
def test_parameters_are_told_from_what_is_around_them(text: str, found: dict[str, str], around: str) -> None:
    assert read_parameters(text) == (found, around)
