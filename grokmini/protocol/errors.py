"""The errors of grokmini: what happened, to what, and what to do next.

GrokminiError
 +-- UsageError          the command line or a setting is wrong         exit 2
 +-- ConfigError         a file of settings cannot be used              exit 2
 +-- SessionError        a session cannot be opened, locked or found    exit 1
 +-- SampleError         the model API said no or went away             exit by kind
 +-- ToolError           a call cannot be done; the text is for the model
 +-- SandboxError        confinement was refused or could not be set up exit 9
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class GrokminiError(Exception):
    """Base of all expected failures. `message` says what happened and to what, `hint` what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GrokminiError):
    """The command line, a command or a setting is wrong."""


class ConfigError(GrokminiError):
    """A file of settings cannot be read or holds something that is not allowed."""


class SessionError(GrokminiError):
    """A session cannot be found, opened, locked or written."""


class SandboxError(GrokminiError):
    """Confinement was refused or could not be set up."""


class SampleErrorKind(StrEnum):
    """Why a request to a model failed. Policy (retry, exit code, advice) goes by this, never by the text."""

    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    CONTEXT_OVERFLOW = "context_overflow"
    MODEL_NOT_FOUND = "model_not_found"
    BAD_REQUEST = "bad_request"
    SERVER = "server"
    NETWORK = "network"
    TIMEOUT = "timeout"
    STREAM_CUT = "stream_cut"
    EMPTY_REPLY = "empty_reply"
    REPETITION = "repetition"
    PROTOCOL = "protocol"


class SampleError(GrokminiError):
    """A request to a model failed.

    `retry_after` is in seconds, as the server asked; `window` is the context size in tokens when an overflow
    message named it.
    """

    def __init__(
        self,
        kind: SampleErrorKind,
        message: str,
        hint: str = "",
        *,
        retryable: bool = False,
        status: int | None = None,
        retry_after: float | None = None,
        window: int | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.retryable = retryable
        self.status = status
        self.retry_after = retry_after
        self.window = window


class ToolErrorKind(StrEnum):
    """Why a tool call failed (spec: tools.md). Every policy goes by the kind."""

    INVALID_ARGUMENTS = "invalid_arguments"
    NOT_FOUND = "not_found"
    PERMISSION_DENIED = "permission_denied"
    DENIED_BY_HOOK = "denied_by_hook"
    PLAN_MODE = "plan_mode"
    CONFLICT = "conflict"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    RATE_LIMITED = "rate_limited"
    NETWORK = "network"
    SANDBOX_DENIED = "sandbox_denied"
    SANDBOX_UNAVAILABLE = "sandbox_unavailable"
    TOO_LARGE = "too_large"
    BINARY = "binary"
    IO = "io"
    UNSUPPORTED = "unsupported"
    REQUIRES_OTHER_TOOL = "requires_other_tool"
    INTERNAL = "internal"


class ToolError(GrokminiError):
    """A tool call that cannot be done. `message` is written for the model: it says what to do next.

    `output` is what the tool had produced before it failed (partial output of a command, for people and model).
    `seen` is the whole content of the file that an edit looked at, so that a front end need not read it again;
    None when it was about no file, or the file did not exist.
    """

    def __init__(
        self, kind: ToolErrorKind, message: str, *, output: str = "", seen: bytes | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.output = output
        self.seen = seen


Outcome = Literal["completed", "cancelled", "max_turns_reached", "error"]


class ExitCode:
    """Exit codes of the program (decisions.md, "Exit codes")."""

    OK = 0
    ERROR = 1
    USAGE = 2
    MAX_TURNS = 3
    PERMISSION = 4
    AUTH = 5
    RATE_LIMIT = 6
    CONTEXT = 7
    SERVER = 8
    SANDBOX = 9
    SCHEMA = 10
    SIGHUP = 129
    SIGINT = 130
    SIGTERM = 143


_BY_SAMPLE_KIND: dict[SampleErrorKind, int] = {
    SampleErrorKind.AUTH: ExitCode.AUTH,
    SampleErrorKind.QUOTA: ExitCode.RATE_LIMIT,
    SampleErrorKind.RATE_LIMIT: ExitCode.RATE_LIMIT,
    SampleErrorKind.CONTEXT_OVERFLOW: ExitCode.CONTEXT,
    SampleErrorKind.MODEL_NOT_FOUND: ExitCode.USAGE,
    SampleErrorKind.BAD_REQUEST: ExitCode.SERVER,
    SampleErrorKind.SERVER: ExitCode.SERVER,
    SampleErrorKind.NETWORK: ExitCode.SERVER,
    SampleErrorKind.TIMEOUT: ExitCode.SERVER,
    SampleErrorKind.STREAM_CUT: ExitCode.SERVER,
    SampleErrorKind.EMPTY_REPLY: ExitCode.SERVER,
    SampleErrorKind.REPETITION: ExitCode.ERROR,
    SampleErrorKind.PROTOCOL: ExitCode.SERVER,
}


def exit_code_of(error: GrokminiError) -> int:
    """The exit code a failed run ends with."""
    if isinstance(error, SampleError):
        return _BY_SAMPLE_KIND[error.kind]
    if isinstance(error, UsageError | ConfigError):
        return ExitCode.USAGE
    if isinstance(error, SandboxError):
        return ExitCode.SANDBOX
    return ExitCode.ERROR
