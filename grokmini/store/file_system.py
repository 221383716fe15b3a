"""Whether files are on this machine or come over a network, where locks and shared memory cannot be trusted."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

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

MOUNTS = Path("/proc/self/mountinfo")


def is_remote(path: Path, mounts: Path = MOUNTS) -> bool:
    """Whether the path is on a network file system; what cannot be found out counts as local."""
    try:
        table = mounts.read_text("utf-8", "replace")
        return kind_of(path.resolve(), table) in NETWORK_KINDS
    except OSError:
        return False


def kind_of(path: Path, table: str) -> str:
    """The kind of the file system that holds an absolute path, by a table in mountinfo's form (proc(5)).

    "" when no line of the table fits.
    """
    best, kind = -1, ""
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        point = PurePosixPath(_unescaped(fields[4]))
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), right.split()[0]
    return kind


def _unescaped(text: str) -> str:
    """mountinfo writes space, tab, newline and backslash as three octal digits."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
