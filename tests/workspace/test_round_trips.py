"""Decoded, edited and encoded again: outside the span every byte is the same, whatever the encoding."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.workspace.edit import Edited, replace_text
from grokmini.workspace.text_file import decode_text

PLAIN = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le"}
AROUND = st.lists(
    st.tuples(st.text(st.sampled_from("aé\t x"), max_size=6), st.sampled_from(["\n", "\r\n", "\r", ""])),
    max_size=6,
).map(lambda pairs: "".join(line + end for line, end in pairs))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
@settings(max_examples=25)
@given(AROUND, AROUND, st.text(st.sampled_from("neü\n"), min_size=1, max_size=5))
def test_an_edit_touches_its_span_alone(encoding: str, before: str, after: str, new: str) -> None:
    prefix = "# ASCII so that the encoding is seen\né\n" + before
    text = f"{prefix}<old>{after}"
    data = text.encode(encoding)
    file = decode_text(data)
    assert file is not None
    result = replace_text(file.text, "<old>", f"<{new}>")
    assert isinstance(result, Edited)
    written = file.encode(result.text)
    assert written.startswith(prefix.encode(encoding))
    assert written.endswith(after.encode(PLAIN.get(encoding, encoding)))
    assert file.encode(file.text) == data
