"""Questions that wait for a person."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from grokmini.protocol.events import PermissionAnswered, PermissionAsked, SessionEvent
from grokmini.protocol.permission import PermissionAnswer


class Approvals:
    """Open questions by request id. One task asks, another brings the answer."""

    def __init__(self, emit: Callable[[SessionEvent], None]) -> None:
        self._emit = emit
        self._open: dict[str, asyncio.Future[PermissionAnswer]] = {}

    async def ask(self, question: PermissionAsked) -> PermissionAnswer:
        """Ask and wait. Cancelled, the question is closed as answered with no."""
        answered: asyncio.Future[PermissionAnswer] = asyncio.get_running_loop().create_future()
        self._open[question.request_id] = answered
        self._emit(question)
        try:
            answer = await answered
        except asyncio.CancelledError:
            no = PermissionAnswer("deny")
            self._emit(PermissionAnswered(question.request_id, question.call_id, no, "cancel"))
            raise
        finally:
            del self._open[question.request_id]
        self._emit(PermissionAnswered(question.request_id, question.call_id, answer))
        return answer

    def answer(self, request_id: str, answer: PermissionAnswer) -> bool:
        """Deliver an answer. False when no such question is open (any more)."""
        answered = self._open.get(request_id)
        if answered is None or answered.done():
            return False
        answered.set_result(answer)
        return True

    def dismiss(self) -> None:
        """Close every open question with no: the person said something else instead."""
        for answered in self._open.values():
            if not answered.done():
                answered.set_result(PermissionAnswer("deny"))
