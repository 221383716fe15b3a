"""CRLF and LF: matching ignores the difference, writing keeps it line by line."""

from __future__ import annotations

from bisect import bisect_left


class LineFeedView:
    """A text with every CRLF shown as LF, knowing where each place is in the original.

    A lone CR is an ordinary character.
    """

    def __init__(self, original: str) -> None:
        self.original = original
        self.text = original.replace("\r\n", "\n") if "\r\n" in original else original
        self._crlf: list[int] = []
        if self.text is not original:
            at = original.find("\r\n")
            while at >= 0:
                self._crlf.append(at - len(self._crlf))
                at = original.find("\r\n", at + 2)

    @property
    def has_crlf(self) -> bool:
        """Whether any line ends in CRLF."""
        return bool(self._crlf)

    def original_offset(self, offset: int) -> int:
        """The place in the original text of an offset in `text`."""
        return offset + bisect_left(self._crlf, offset)

    def with_line_ends(self, start: int, end: int, new: str) -> str:
        """`new` as it should stand in place of `text[start:end]`, with the line ends that belong there.

        Lines at the beginning and at the end that stay the same keep their own ends; the others take the end of
        the line they replace. In a text without CRLF `new` is used as it is.
        """
        if not self.has_crlf:
            return new
        old_lines = self.text[start:end].split("\n")
        new_lines = new.replace("\r\n", "\n").split("\n")
        ends = self._ends(start, end)
        nearby = ends or [self._neighbour(start)]
        kept = min(max(0, _common_tail(old_lines, new_lines) - 1), len(ends))
        count = len(new_lines) - 1
        last = max(0, len(nearby) - kept - 1)
        result = [new_lines[0]]
        for index in range(count):
            from_end = count - index
            result.append(ends[-from_end] if from_end <= kept else nearby[min(index, last)])
            result.append(new_lines[index + 1])
        return "".join(result)

    def _ends(self, start: int, end: int) -> list[str]:
        ends = []
        at = self.text.find("\n", start, end)
        while at >= 0:
            ends.append(self._end_at(at))
            at = self.text.find("\n", at + 1, end)
        return ends

    def _end_at(self, newline: int) -> str:
        return "\r\n" if self.original[self.original_offset(newline)] == "\r" else "\n"

    def _neighbour(self, start: int) -> str:
        following = self.text.find("\n", start)
        if following < 0:
            following = self.text.rfind("\n", 0, start)
        return self._end_at(following)


def only_crlf(text: str) -> bool:
    """Whether the text has lines and every one that ends does so with CRLF."""
    return "\r\n" in text and text.count("\n") == text.count("\r\n")


def _common_tail(old: list[str], new: list[str]) -> int:
    count = 0
    for one, other in zip(reversed(old), reversed(new), strict=False):
        if one != other:
            break
        count += 1
    return count
