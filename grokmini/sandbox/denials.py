"""What a profile keeps from being read: the paths as things are now, the patterns of what may come, and what in it
protects nothing, so that somebody who mistyped a name hears of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.closed import may_be_there
from grokmini.sandbox.globs import anchored, expand, fixed_folder, is_glob, unquoted, without_links
from grokmini.sandbox.profile import Profile
from grokmini.sandbox.secrets import secret_paths
from grokmini.sandbox.sockets import bound_sockets
from grokmini.text.below import is_below
from grokmini.text.some import some_of

if TYPE_CHECKING:
    from grokmini.sandbox.resolve import Around

_NEEDED: Final = ("/usr", "/proc", "/dev", "/dev/null")
_SHOWN: Final = 4


class Denials(NamedTuple):
    """Real paths, there or not; absolute patterns, and those of the profile's that match nothing now; sentences for the
    person about names that are likely wrong.
    """

    paths: tuple[str, ...]
    globs: tuple[str, ...]
    idle: tuple[str, ...]
    notices: tuple[str, ...]


def denials(profile: Profile, around: Around) -> Denials:
    """What cannot be read under a profile. Looks at the disk. Raises `SandboxError`."""
    found: list[str] = []
    globs: list[str] = []
    idle: list[str] = []
    for number, pattern in enumerate(_patterns(profile, around)):
        matched = tuple(map(os.path.realpath, expand(pattern)))
        found += _deniable(matched, around)
        if is_glob(pattern):
            globs.append(without_links(pattern))
            idle += () if matched or number >= len(profile.deny) else globs[-1:]
    if around.protect_secrets and profile.base != "devbox":
        found += secret_paths(around.home, around.env, around.own)
    if profile.blocks_network and profile.allow_unix:
        found += (path for path in bound_sockets() if not is_below(path, around.cwd))
    paths = tuple(dict.fromkeys(os.path.realpath(path) for path in found))
    return Denials(paths, tuple(globs), tuple(idle), tuple(_notices(profile, around)))


def _deniable(denied: Iterable[str], around: Around) -> Iterator[str]:
    """The paths, unless no command could run without one of them."""
    for path in denied:
        what = next((each for each in (around.cwd, *_NEEDED) if is_below(each, path)), "")
        if what:
            holds = "is" if what == path else f"holds {what},"
            raise SandboxError(
                f"a sandbox profile cannot deny {path}: it {holds} what every command needs",
                "Name what in it is to be denied, or start in another folder.",
            )
        yield path


def _patterns(profile: Profile, around: Around) -> Iterator[str]:
    files = (".env*", "**/.env*") if around.protect_env_files else ()
    for pattern in (*profile.deny, *files):
        yield anchored(pattern, around.cwd, around.home)


def _notices(profile: Profile, around: Around) -> Iterator[str]:
    """A sentence about what is denied by name and not there. A profile may be for several folders and for what is to
    come, so a pattern counts only by the folder it begins in, and a path in the folder worked in where all but its end
    is there.
    """
    missing = [path for text in profile.deny if (path := _missing(text, around))]
    if missing:
        yield (
            f"The profile {profile.name} denies what is not there: {some_of(missing, _SHOWN)}. Nothing is hidden by "
            "that until it is there: look whether the name is right."
        )


def _missing(text: str, around: Around) -> str:
    pattern = anchored(text, around.cwd, around.home)
    definite = text.startswith(("/", "~"))
    if is_glob(pattern):
        folder = fixed_folder(pattern)
        return folder if definite and not _is_there(folder) else ""
    path = unquoted(pattern)
    if _is_there(path) or not (definite or ("/" in text and _is_there(os.path.dirname(path)))):
        return ""
    return path


def _is_there(path: str) -> bool:
    return os.path.lexists(path) or may_be_there(path)
