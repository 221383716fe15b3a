"""Files as the file tools see them: arguments to paths, and every failure as an error a model can act on."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from typing import NamedTuple

from grokmini.files.descriptors import FileMovedError
from grokmini.files.regular import NotRegularError
from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.tools import ToolKind
from grokmini.sandbox.file_guard import FileRefusedError
from grokmini.text.nearest import nearest
from grokmini.text.paths import visible_path
from grokmini.tools.contract import ToolCallContext, ToolNames
from grokmini.tools.read_denials import HiddenFiles
from grokmini.workspace.files import MAX_FILE_BYTES, FileTooLargeError
from grokmini.workspace.text_file import TextFile, decode_text, describe_binary
from grokmini.workspace.workspace import StaleFileError, Workspace

MAX_ENTRIES_LOOKED_AT = 2_000
QUOTED_NOTE = "names in quotes hold line ends or hidden characters; give them as they stand, with the quotes"
"""What to say to a model where `Workspace.shown` gave a quoted path."""


def path_of(text: str, parameter: str, ctx: ToolCallContext) -> Path:
    """The absolute path of an argument. Raises `ToolError` (invalid arguments)."""
    try:
        return ctx.resources.get(Workspace).resolve(text)
    except ValueError as error:
        raise ToolError(
            ToolErrorKind.INVALID_ARGUMENTS, f"`{parameter}` is not usable: {error}. Give a path."
        ) from error


class OpenedText(NamedTuple):
    """A text file as it is on disk now."""

    path: Path
    shown: str
    data: bytes
    text: TextFile


async def open_text(path: Path, ctx: ToolCallContext) -> OpenedText:
    """Read a text file whole. Raises `ToolError`."""
    workspace = ctx.resources.get(Workspace)
    try:
        data = await asyncio.to_thread(workspace.read, path, ctx.approved)
    except OSError as error:
        raise await asyncio.to_thread(file_error, error, path, ctx) from error
    text = await asyncio.to_thread(decode_text, data)
    if text is None:
        raise binary_error(workspace.shown(path), data, ctx.names)
    return OpenedText(path, workspace.shown(path), data, text)


def binary_error(shown: str, data: bytes, names: ToolNames) -> ToolError:
    """The error for a file that is no text."""
    return ToolError(
        ToolErrorKind.BINARY,
        f"{shown} is no text file ({describe_binary(data)}, {len(data):,} bytes). "
        f"Look at it with a program through {names.of(ToolKind.EXECUTE)} (file, xxd, strings).",
    )


def file_error(error: OSError, path: Path, ctx: ToolCallContext) -> ToolError:
    """What an `OSError` about a path means for the model. Looks for similar names; blocks."""
    shown = ctx.resources.get(Workspace).shown(path)
    names = ctx.names
    match error:
        case FileNotFoundError():
            return ToolError(ToolErrorKind.NOT_FOUND, _not_found(path, shown, ctx))
        case IsADirectoryError():
            return ToolError(
                ToolErrorKind.INVALID_ARGUMENTS,
                f"{shown} is a folder. List it with {names.of(ToolKind.LIST_DIR)}.",
            )
        case NotADirectoryError():
            return ToolError(
                ToolErrorKind.NOT_FOUND, f"A part of {shown} is a file, not a folder. Check the path."
            )
        case FileRefusedError():
            return ToolError(ToolErrorKind.SANDBOX_DENIED, _refused(error, shown))
        case PermissionError():
            return ToolError(
                ToolErrorKind.IO,
                f"The system does not permit access to {shown}. Leave it, or tell the user what is missing.",
            )
        case FileTooLargeError():
            return ToolError(
                ToolErrorKind.TOO_LARGE,
                f"{shown} is {error.size:,} bytes, over the {MAX_FILE_BYTES:,} that are read whole. "
                f"Look at a part of it through {names.of(ToolKind.EXECUTE)} (grep -n, sed -n, tail).",
            )
        case NotRegularError():
            return ToolError(
                ToolErrorKind.UNSUPPORTED,
                f"{shown} is a pipe, a device or a socket, which cannot be read or edited.",
            )
        case FileMovedError():
            return ToolError(
                ToolErrorKind.IO, f"{shown} was moved or replaced at that very moment. Try it once more."
            )
        case StaleFileError():
            return ToolError(ToolErrorKind.CONFLICT, changed_text(shown, names))
    return ToolError(ToolErrorKind.IO, _other(error, shown))


def changed_text(shown: str, names: ToolNames) -> str:
    """What to say about a file that is not as the model knows it."""
    return (
        f"{shown} changed since you read it, so nothing was written. "
        f"Read it again with {names.of(ToolKind.READ)} and make the edit against what is there now."
    )


def _refused(error: FileRefusedError, shown: str) -> str:
    real = visible_path(error.path)
    where = shown if real == shown or real.endswith(f"/{shown}") else f"{shown}, which is {real},"
    advice = "Do without it; if the task needs it, tell the user, who can choose another profile with /sandbox."
    return f"The sandbox profile {error.profile} does not let {where} be {error.action}: {error.rule}. {advice}"


def _other(error: OSError, shown: str) -> str:
    reason = error.strerror or type(error).__name__
    if error.errno == errno.ELOOP:
        return f"{shown} is a symbolic link that leads back to itself. Use the path of the real file."
    if error.errno == errno.ENAMETOOLONG:
        return f"The path is too long for this system ({shown[:80]}…). Use a shorter name."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"There is no space left for {shown}. Nothing was changed; tell the user."
    if error.errno == errno.EROFS:
        return f"{shown} is on a file system that cannot be written. Tell the user, or write elsewhere."
    return f"{shown} cannot be used: {reason}. Check the path, or tell the user."


def _not_found(path: Path, shown: str, ctx: ToolCallContext) -> str:
    base = f"{shown} does not exist (the working directory is {visible_path(ctx.cwd)})."
    parent = path.parent
    workspace = ctx.resources.get(Workspace)
    try:
        found = workspace.names_in(parent, MAX_ENTRIES_LOOKED_AT)
    except FileRefusedError:
        return f"{base} Its folder may not be listed; find the file with {ctx.names.of(ToolKind.LIST)}."
    except OSError:
        return f"{base} Its folder does not exist either; find the file with {ctx.names.of(ToolKind.LIST)}."
    hidden = ctx.resources.get(HiddenFiles).now()
    near = [name for name in nearest(path.name, found) if not hidden.covers(f"{parent}/{name}")]
    if near:
        return f"{base} Did you mean {' or '.join(workspace.shown(parent / name) for name in near)}?"
    return f"{base} Find it with {ctx.names.of(ToolKind.LIST)} or {ctx.names.of(ToolKind.LIST_DIR)}."
