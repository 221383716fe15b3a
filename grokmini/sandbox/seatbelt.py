"""What a policy becomes on macOS: the text of a Seatbelt profile and the command line that applies it. Pure.

By design: written from Apple's documents and what others found out, not yet tried on a Mac.

The last rule that matches wins, so what is denied comes last. A rule for one action may win over an earlier or
later one for a whole family (`file-write*`), so denials name the single actions besides. Paths are passed as
parameters (`-D`), which need no quoting; only expressions of globs stand in the text. Seatbelt sees paths with all
links resolved: give it a policy of real paths. `/tmp`, `/var` and `/etc` are links on every Mac; both forms are
written, wherever the policy comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.globs import expression
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import SANDBOX_EXEC
from grokmini.text.below import is_below_any

_PRIVATE: Final = ("/tmp", "/var", "/etc")

_WRITE: Final = (
    "file-write* file-write-create file-write-data file-write-flags file-write-mode file-write-owner"
    " file-write-setugid file-write-times file-write-unlink file-write-xattr file-link"
)
_READ: Final = "file-read* file-read-data file-read-metadata file-read-xattr"

_DEVICES: Final = f"""\
(allow {_WRITE}
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/tty")
  (regex #"^/dev/fd/"))
(deny {_READ} {_WRITE} file-ioctl
  (regex #"^/dev/tty[^/]+$")
  (regex #"^/dev/r?disk"))"""
"""The terminals that are denied are those of other programs: `/dev/tty` is the own one, which commands lack."""

_PROCESSES: Final = """\
(deny signal)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))"""

_HELPERS: Final = """\
(deny appleevent-send)
(deny job-creation)
(deny lsopen)
(deny mach-lookup
  (global-name "com.apple.coreservices.launchservicesd")
  (global-name "com.apple.CoreServices.coreservicesd"))"""
"""The known ways to have a process started that nobody confines."""

_STRICT_BASE: Final = """\
(allow process-exec* process-fork)
(allow sysctl-read)
(allow ipc-posix-sem ipc-posix-shm*)
(allow file-ioctl (subpath "/dev/fd"))
(allow file-read* (literal "/"))
(allow file-read-metadata (literal "/tmp") (literal "/var") (literal "/etc"))
(allow mach-lookup
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))"""

_STRICT_READ: Final = (
    "/System", "/usr", "/bin", "/sbin", "/opt", "/private/etc", "/private/var/db/dyld", "/private/var/db/timezone",
    "/private/var/select", "/Library/Apple", "/Library/Developer", "/Library/Frameworks", "/dev/null", "/dev/zero",
    "/dev/random", "/dev/urandom", "/dev/fd", "/dev/dtracehelper",
)  # fmt: skip

_STRICT_NETWORK: Final = """\
(allow network* system-socket)
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.trustd")
  (global-name "com.apple.trustd.agent"))"""


class SeatbeltProfile(NamedTuple):
    """The text, and the parameters it names with their values."""

    text: str
    parameters: tuple[tuple[str, str], ...]


class _Parameters:
    """Paths as parameters, a name for each."""

    def __init__(self) -> None:
        self.named: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def filters(self, kind: str, how: str, paths: Iterable[str]) -> list[str]:
        """Filters that match the paths in all their forms."""
        every = dict.fromkeys(form for path in paths for form in forms(path))
        return [f'({how} (param "{self._name(kind, form)}"))' for form in every]

    def _name(self, kind: str, path: str) -> str:
        name = self.named.get((kind, path))
        if name is None:
            number = self._counts[kind] = self._counts.get(kind, -1) + 1
            name = self.named[kind, _sound(path)] = f"{kind}_{number}"
        return name


def forms(path: str) -> tuple[str, ...]:
    """A path, or a pattern, as Seatbelt sees it; then as it is without the `/private` of `/tmp`, `/var` and `/etc`."""
    for top in _PRIVATE:
        for form in (top, f"/private{top}"):
            if path == form or path.startswith(f"{form}/"):
                rest = path[len(form) :]
                return (f"/private{top}{rest}", f"{top}{rest}")
    return (path,)


def _rule(verb: str, filters: Iterable[str]) -> Iterator[str]:
    """A rule for everything that one of the filters matches, none when there are none."""
    lines = list(filters)
    if lines:
        yield "\n  ".join((f"({verb}", *lines)) + ")"


def _sound(path: str) -> str:
    """The path, when it can be a parameter. Raises `SandboxError`."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise SandboxError(f"the path {path!r} is not UTF-8", "Rename it; macOS has no such names.") from None
    if not path.startswith("/") or "\0" in path:
        raise SandboxError(f"the path {path!r} cannot be said to Seatbelt", "It takes absolute paths.")
    return path


def _regex(pattern: str) -> str:
    """The filter for an absolute pattern and what lies below. Raises `SandboxError`."""
    if any(ord(character) < 32 or character in '"\x7f' for character in _sound(pattern)):
        raise SandboxError(
            f"the pattern {pattern!r} holds a double quote or control characters, which Seatbelt cannot be told",
            "Rename the folder, or deny it as a whole.",
        )
    return f'(regex #"{expression(pattern, below=True)}")'


def seatbelt_profile(policy: Policy) -> SeatbeltProfile:
    """The profile of a policy. Raises `SandboxError` for what cannot be said safely."""
    parameters = _Parameters()
    roots = () if policy.write_all else tuple(forms(root)[0] for root in writable_roots(policy) if root)
    lines = ["(version 1)"]
    if policy.read_all:
        lines.append("(allow default)")
    else:
        lines += ["(deny default)", _STRICT_BASE, *_reads(policy, roots, parameters)]
    if not policy.write_all:
        lines.append(f"(deny {_WRITE})")
    lines += [*_writes(policy, roots, parameters), _DEVICES, *_pins(policy, roots, parameters)]
    lines += [*_network(policy, roots, parameters), _PROCESSES, _HELPERS, *_denials(policy, parameters)]
    named = tuple((name, path) for (_, path), name in parameters.named.items())
    return SeatbeltProfile("\n".join(lines) + "\n", named)


def seatbelt_words(profile: SeatbeltProfile, program: str = SANDBOX_EXEC) -> tuple[str, ...]:
    """The command line up to and with `--`."""
    given = (word for name, value in profile.parameters for word in ("-D", f"{name}={value}"))
    return (program, "-p", profile.text, *given, "--")


def _reads(policy: Policy, roots: tuple[str, ...], parameters: _Parameters) -> Iterator[str]:
    """The whitelist; whoever asks for a path's real name has to look at each folder above it."""
    paths = tuple(dict.fromkeys((*policy.read_roots, *roots)))
    system = [f'(subpath "{path}")' for path in _STRICT_READ]
    yield from _rule(
        "allow file-read* file-map-executable", (*system, *parameters.filters("READ", "subpath", paths))
    )
    above = dict.fromkeys(parent for path in paths for parent in _parents(forms(path)[0]))
    yield from _rule("allow file-read-metadata", parameters.filters("ABOVE", "literal", above))


def _writes(policy: Policy, roots: tuple[str, ...], parameters: _Parameters) -> Iterator[str]:
    """What may be written and what may not inside of it, from the top down: the deeper one counts."""
    chosen = dict.fromkeys(roots, "WRITE") | dict.fromkeys(
        (forms(path)[0] for path in policy.protected), "PROTECTED"
    )
    for path, kind in sorted(chosen.items(), key=lambda item: (item[0].count("/"), item[0])):
        verb = "allow" if kind == "WRITE" else "deny"
        yield from _rule(f"{verb} {_WRITE}", parameters.filters(kind, "subpath", (path,)))


def _pins(policy: Policy, roots: tuple[str, ...], parameters: _Parameters) -> Iterator[str]:
    """Writable folders, and all on the way from one to what is protected or denied, keep their names."""
    pinned = dict.fromkeys(roots)
    for path in (*policy.protected, *policy.denied):
        above = _parents(forms(path)[0])
        pinned |= dict.fromkeys(parent for parent in above if policy.write_all or is_below_any(parent, roots))
    yield from _rule("deny file-write-unlink", parameters.filters("PIN", "literal", pinned))


def _network(policy: Policy, roots: tuple[str, ...], parameters: _Parameters) -> Iterator[str]:
    if policy.network == "open":
        if not policy.read_all:
            yield _STRICT_NETWORK
        return
    yield "(deny network*)"
    if policy.allow_unix:
        own = parameters.filters("WRITE", "subpath", roots)
        yield "(allow system-socket (socket-domain AF_UNIX))"
        yield from _rule("allow network-bind network-inbound", (f"(local unix-socket {one})" for one in own))
        yield from _rule("allow network-outbound", (f"(remote unix-socket {one})" for one in own))


def _denials(policy: Policy, parameters: _Parameters) -> Iterator[str]:
    hidden = parameters.filters("DENIED", "subpath", policy.denied)
    later = [_regex(form) for pattern in policy.denied_globs for form in forms(pattern)]
    yield from _rule(f"deny {_READ} {_WRITE}", (*hidden, *later))
    yield from _rule("deny network-outbound", (f"(remote unix-socket {one})" for one in (*hidden, *later)))


def _parents(path: str) -> list[str]:
    """The folders above, the root excepted."""
    return [str(parent) for parent in PurePosixPath(path).parents if str(parent) != "/"]
