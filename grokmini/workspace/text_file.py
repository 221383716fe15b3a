"""Bytes of a file as text and back, losing nothing.

`decode_text(data).encode(text)` gives back exactly `data` for every file that decodes (property test).
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with BOM"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32 LE"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32 BE"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 LE"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 BE"),
)

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "zip archive or office document"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"\x7fELF", "ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\x00asm", "WebAssembly module"),
    (b"RIFF", "RIFF media file"),
    (b"OggS", "Ogg media file"),
    (b"ID3", "MP3 audio"),
    (b"wOF2", "web font"),
)

_SAMPLE: Final = 8_192
_TEXT_CONTROLS: Final = frozenset(b"\t\n\r\f\v\b\x1b")
_CONTROLS: Final = bytes(byte for byte in range(32) if byte not in _TEXT_CONTROLS)


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file with its line ends as they are, and how it was written.

    `encoding` is a codec's name, `label` the same for people and models; the BOM is not part of the text.
    """

    text: str
    encoding: str
    label: str
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """Bytes for another text in the same encoding, with the same BOM. Raises `UnicodeEncodeError`."""
        return self.bom + text.encode(self.encoding)


def decode_text(data: bytes) -> TextFile | None:
    """The text of a file's bytes, or None when they are no text.

    By BOM; else UTF-16 when every other byte of the beginning is NUL; else UTF-8; else Latin-1, which maps
    every byte to itself, unless the bytes look binary.
    """
    for bom, encoding, label in _BOMS:
        if data.startswith(bom):
            found = _strict(data[len(bom) :], encoding, label, bom)
            if found is not None:
                return found
    sample = data[:_SAMPLE]
    if b"\0" in sample:
        return _without_bom(data, sample)
    found = _strict(data, "utf-8", "UTF-8")
    if found is not None:
        return found if b"\0" not in data else None
    if b"\0" in data or _control_share(sample) > 0.02 or _known_magic(data):
        return None
    return TextFile(data.decode("latin-1"), "latin-1", "Latin-1")


def describe_binary(data: bytes) -> str:
    """What kind of binary file the bytes are, in a few words."""
    return _known_magic(data) or "binary data"


def _known_magic(data: bytes) -> str:
    return next((name for magic, name in _MAGIC if data.startswith(magic)), "")


def _strict(data: bytes, encoding: str, label: str, bom: bytes = b"") -> TextFile | None:
    try:
        return TextFile(data.decode(encoding), encoding, label, bom)
    except UnicodeDecodeError:
        return None


def _without_bom(data: bytes, sample: bytes) -> TextFile | None:
    pairs = len(sample) // 2
    even, odd = sample[0 : 2 * pairs : 2].count(0), sample[1 : 2 * pairs : 2].count(0)
    found = None
    if odd > 0.4 * pairs and even == 0:
        found = _strict(data, "utf-16-le", "UTF-16 LE without BOM")
    elif even > 0.4 * pairs and odd == 0:
        found = _strict(data, "utf-16-be", "UTF-16 BE without BOM")
    if found is None or any(chr(control) in found.text for control in _CONTROLS):
        return None
    return found


def _control_share(sample: bytes) -> float:
    if not sample:
        return 0.0
    return 1 - len(sample.translate(None, _CONTROLS)) / len(sample)
