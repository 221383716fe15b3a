"""The gate that every access to a file goes through, asked about what is open already."""

from __future__ import annotations

from typing import Final, Protocol


class Gate(Protocol):
    """What may be read and written. The checks raise `OSError`; nothing was read or changed until then."""

    def check_read(self, fd: int) -> None:
        """Whether an open file may be read, an open folder listed."""

    def check_write(self, folder: int, name: str) -> None:
        """Whether the file of that name in an open folder may be made, replaced or written."""

    def check_make(self, folder: int, name: str) -> None:
        """Whether a folder of that name may be made in an open one."""

    def check_overwrite(self, fd: int) -> None:
        """Whether an open file may be written in place."""


class _Ungated:
    def check_read(self, fd: int) -> None:
        pass

    def check_write(self, folder: int, name: str) -> None:
        pass

    def check_make(self, folder: int, name: str) -> None:
        pass

    def check_overwrite(self, fd: int) -> None:
        pass


UNGATED: Final[Gate] = _Ungated()
"""Lets everything through."""
