"""What is told of a call while its arguments are still being written."""

from __future__ import annotations

import json

import pytest

from grokmini.protocol.events import ToolCallWriting
from grokmini.session.call_writing import STEP, CallWriting

CONTENT = "".join(f'line {number} with a "quote" and a \\ in it\n' for number in range(100))


def told(name: str, arguments: str, size: int) -> list[ToolCallWriting]:
    heard: list[ToolCallWriting] = []
    writing = CallWriting(heard.append)
    writing.begin(name)
    for start in range(0, len(arguments), size):
        writing.more(arguments[start : start + size])
    return heard


@pytest.mark.parametrize("size", [1, 3, 7, 5_000])
def test_the_file_is_named_as_soon_as_it_is_known_and_the_lines_are_counted(size: int) -> None:
    heard = told("write", json.dumps({"file_path": 'src/a "b".py', "content": CONTENT}), size)
    assert heard[0] == ToolCallWriting("write")
    assert {one.subject for one in heard[1:]} == {'src/a "b".py'}
    assert [one.lines for one in heard] == sorted(one.lines for one in heard)
    assert 95 <= heard[-1].lines <= 101


def test_it_is_told_again_only_when_much_more_came() -> None:
    arguments = json.dumps({"command": "echo one\necho two", "description": "x" * 10 * STEP})
    heard = told("run_terminal_command", arguments, 1)
    assert heard[1].subject == "echo one"
    assert len(heard) <= len(arguments) // STEP + 2


@pytest.mark.parametrize(
    "arguments", ['{"file_path": "\\ud83d', '{"command": "\\x"}', "no json", '{"file_path": 3}']
)
def test_what_cannot_be_read_has_no_subject(arguments: str) -> None:
    assert {one.subject for one in told("write", arguments, 2)} == {""}


def test_the_next_call_is_told_afresh() -> None:
    heard: list[ToolCallWriting] = []
    writing = CallWriting(heard.append)
    writing.begin("write")
    writing.more('{"file_path": "a", "content": "1\\n2\\n')
    writing.begin("grep")
    assert heard[-1] == ToolCallWriting("grep")
