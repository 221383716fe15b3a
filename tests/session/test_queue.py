"""Prompts that wait."""

from __future__ import annotations

from grokmini.protocol.commands import Prompt
from grokmini.session.queue import PromptQueue


def waiting(*texts: str) -> PromptQueue:
    queue = PromptQueue()
    for text in texts:
        queue.add(Prompt(prompt_id=f"id-{text}", text=text))
    return queue


def test_prompts_leave_in_the_order_they_came() -> None:
    queue = waiting("a", "b", "c")
    taken = [queue.take(), queue.take(), queue.take()]
    assert [prompt.text for prompt in taken if prompt] == ["a", "b", "c"]
    assert queue.take() is None


def test_a_prompt_can_be_taken_out_of_the_middle() -> None:
    queue = waiting("a", "b", "c")
    taken = queue.take("id-b")
    assert taken is not None and taken.text == "b"
    assert [prompt.text for prompt in queue] == ["a", "c"]


def test_an_edited_prompt_keeps_its_place() -> None:
    queue = waiting("a", "b")
    assert queue.replace("id-a", "A")
    assert [prompt.text for prompt in queue] == ["A", "b"]
    assert not queue.replace("gone", "x")
