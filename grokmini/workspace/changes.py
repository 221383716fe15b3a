"""What the agent changed: content before its first touch and after its last, per prompt."""

from __future__ import annotations

from typing import NamedTuple

from grokmini.text.diff import unified_diff
from grokmini.workspace.text_file import decode_text


class FileChange(NamedTuple):
    """One file in one prompt. `before` is None when it did not exist."""

    path: str
    before: bytes | None
    after: bytes


class ChangeLog:
    """The agent's own writes of files, by prompt. Paths are shown as the tools show them."""

    def __init__(self) -> None:
        self._prompts: dict[int, dict[str, FileChange]] = {}

    def record(self, prompt_index: int, path: str, before: bytes | None, after: bytes) -> None:
        """Note a write. Only the first `before` of a prompt counts."""
        files = self._prompts.setdefault(prompt_index, {})
        first = files.get(path)
        files[path] = FileChange(path, before if first is None else first.before, after)

    def changed(self, prompt_index: int | None = None) -> tuple[FileChange, ...]:
        """The net changes of one prompt, or of the whole session, in the order of first touch."""
        if prompt_index is not None:
            merged = dict(self._prompts.get(prompt_index, {}))
        else:
            merged = {}
            for index in sorted(self._prompts):
                for path, change in self._prompts[index].items():
                    earlier = merged.get(path)
                    merged[path] = change if earlier is None else earlier._replace(after=change.after)
        return tuple(change for change in merged.values() if change.before != change.after)

    def files_changed(self, prompt_index: int | None = None) -> int:
        """How many files are different from before."""
        return len(self.changed(prompt_index))

    def diff(self, prompt_index: int | None = None) -> str:
        """The net changes as unified diffs, one after another; empty when nothing is different."""
        return "".join(change_diff(change) for change in self.changed(prompt_index))


def change_diff(change: FileChange) -> str:
    """One file's change as a unified diff, or one line for what is no text."""
    before = decode_text(change.before or b"")
    after = decode_text(change.after)
    if before is None or after is None:
        return f"Binary file {change.path} changed\n"
    return unified_diff(before.text, after.text, change.path)
