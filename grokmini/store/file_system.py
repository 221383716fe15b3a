"""Whether files are on this machine or come over a network, where locks and shared memory cannot be trusted.

By the table of mounts and not by statfs(2)'s number, which is one and the same for all of FUSE: an sshfs would not
be told from an encrypted folder on the local disk.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import NamedTuple

NETWORK_KINDS = frozenset(
    {
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
        "cifs",
        "ceph",
        "lustre",
        "gpfs",
        "wekafs",
        "9p",
        "afs",
        "fuse.sshfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.ceph",
        "fuse.davfs",
        "davfs",
        "fuse.curlftpfs",
        "fuse.gvfsd-fuse",
        "fuse.juicefs",
        "fuse.goofys",
        "fuse.blobfuse",
        "fuse.blobfuse2",
        "fuse.moosefs",
        "fuse.mfs",
        "fuse.seaweedfs",
        "fuse.weed",
        "fuse.osxfs",
        "fuse.grpcfuse",
        "beegfs",
        "orangefs",
        "coda",
    }
)
"""Kinds of file systems, in the words of mountinfo, that are served by another machine."""

_NAMES_A_HOST = re.compile(r"//[^/]|\w+://|[\w.@\[\]:-]+:/|[\w.-]+@[\w.-]+:")
"""What is mounted from elsewhere: `//host/share`, `https://host/`, `host:/path`, `person@host:path`."""

MOUNTS = Path("/proc/self/mountinfo")


def is_remote(path: Path, mounts: Path = MOUNTS) -> bool:
    """Whether the path is on a network file system; what cannot be found out counts as local."""
    try:
        table = mounts.read_text("utf-8", "replace")
        return is_served(mount_of(path.resolve(), table))
    except OSError:
        return False


class Mount(NamedTuple):
    """A file system: its kind, and what is mounted (a device, `host:/path`, `//host/share`, a program's name)."""

    kind: str
    source: str


def is_served(mount: Mount) -> bool:
    """Whether another machine serves it: by its kind, and of a FUSE kind that is in no list by naming a host."""
    if mount.kind in NETWORK_KINDS:
        return True
    is_fuse = mount.kind in ("fuse", "fuseblk") or mount.kind.startswith("fuse.")
    return is_fuse and _NAMES_A_HOST.match(mount.source) is not None


def mount_of(path: Path, table: str) -> Mount:
    """What holds an absolute path, by a table in mountinfo's form (proc(5)); of no kind when no line fits."""
    best, found = -1, Mount("", "")
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        point = PurePosixPath(_unescaped(fields[4]))
        if path.is_relative_to(point) and len(point.parts) >= best:
            kind, source = [*right.split(), "", ""][:2]
            best, found = len(point.parts), Mount(kind, _unescaped(source))
    return found


def _unescaped(text: str) -> str:
    """mountinfo writes space, tab, newline and backslash as three octal digits."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
