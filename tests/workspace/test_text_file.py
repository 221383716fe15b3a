"""Bytes to text and back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.workspace.text_file import decode_text, describe_binary


@settings(max_examples=60)
@given(st.binary(max_size=300))
def test_whatever_decodes_encodes_to_the_same_bytes(data: bytes) -> None:
    file = decode_text(data)
    if file is not None:
        assert file.encode(file.text) == data


@settings(max_examples=50)
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=50),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_text_with_a_mark_or_in_utf8_is_read_as_it_was_meant(text: str, encoding: str) -> None:
    file = decode_text(text.encode(encoding))
    assert file is not None
    assert file.text == text.removeprefix("\ufeff") or file.text == text


@pytest.mark.parametrize(
    ("data", "label"),
    [
        (b"plain\n", "UTF-8"),
        (b"", "UTF-8"),
        ("gr\u00fc\u00df".encode(), "UTF-8"),
        (b"\xef\xbb\xbfx", "UTF-8 with BOM"),
        ("hi\n".encode("utf-16-le"), "UTF-16 LE without BOM"),
        ("hi\n".encode("utf-16-be"), "UTF-16 BE without BOM"),
        (b"\xff\xfe" + "hi".encode("utf-16-le"), "UTF-16 LE"),
        (b"\xfe\xff" + "hi".encode("utf-16-be"), "UTF-16 BE"),
        (b"# r\xf4le\n", "Latin-1"),
    ],
)
def test_the_encoding_is_named(data: bytes, label: str) -> None:
    file = decode_text(data)
    assert file is not None
    assert file.label == label


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG image"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "ELF program or library"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "PDF document"),
        (bytes(range(256)), "binary data"),
        (b"text\0text", "binary data"),
    ],
)
def test_a_binary_file_is_no_text_and_is_named(data: bytes, kind: str) -> None:
    assert decode_text(data) is None
    assert describe_binary(data) == kind
