"""Bytes from a keyboard to key presses, whatever the pieces they arrive in.

Pure: there is no clock in here. Whoever owns one tells how long no byte has come (`silence`), and asks when
the next such word matters (`wake_in`). Times: a lone ESC is told from a sequence whose pieces come up to 50 ms
apart (decisions.md, "Terminal"); lines that come within a few ms of each other are a paste.
"""

from __future__ import annotations

import codecs
import re
from typing import Literal

from grokmini.repl.keys import Burst, Chord, Key, Paste, Press, Text, press_of_control, press_of_csi
from grokmini.repl.paste_chips import is_large

BURST_GAP = 0.006
"""Seconds without a byte that end a burst: a line end before it was Enter."""
PASTE_GAP = 0.100
"""Seconds without a byte after which lines are no longer part of the burst of several lines before them."""
ESCAPE_GAP = 0.050
"""Seconds without a byte that make an ESC a key, or an unfinished sequence nothing."""
LOST_PASTE_GAP = 2.0
"""Seconds without a byte after which the end mark of a paste is taken to be lost, so that keys work again."""
MAX_SEQUENCE = 256
"""Bytes of one sequence; a longer one is given up, and what follows are keys."""

_PLAIN_RUN = re.compile(rb"[^\x00-\x1f\x7f]+")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PASTE_START = "\x1b[200~"
_PASTE_END = b"\x1b[201~"
_STRING_STARTS = b"]PX^_"
_ENDS_STRING_AT_ONCE = b"\x07\x18\x1a"
_ESC, _CR, _LF, _TAB = 0x1B, 0x0D, 0x0A, 0x09

_NEWLINES = (Key.NEWLINE, Key.PASTED_NEWLINE, Key.PASTE_ENDED)


def pasted_text(text: str) -> str:
    """Text of a paste with its line ends made `\\n`, without other control characters but tabs."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


Held = Literal["", "cr", "crlf", "tab"]


class KeyDecoder:
    """Turns bytes into presses. Feeding the same bytes in other pieces gives the same presses."""

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._sequence = bytearray()
        self._paste: bytearray | None = None
        self._held: Held = ""
        self._in_burst = False
        self._burst_lines = 0
        self._burst: list[str] = []
        self._presses: list[Press] = []

    @property
    def wake_in(self) -> float | None:
        """Seconds of silence after which `silence` has something to decide; None when it has nothing."""
        if self._paste is not None:
            return LOST_PASTE_GAP
        if self._in_burst or self._held:
            return BURST_GAP
        if self._sequence:
            return ESCAPE_GAP
        return PASTE_GAP if self._burst_lines else None

    def feed(self, data: bytes) -> list[Press]:
        """The presses that these bytes complete."""
        position = 0
        while position < len(data):
            if self._paste is not None:
                position = self._feed_paste(data, position)
                continue
            run = None if self._sequence else _PLAIN_RUN.match(data, position)
            if run:
                self._text(run[0])
                position = run.end()
            else:
                self._byte(data[position])
                position += 1
        self._in_burst = self._paste is None and bool(data or self._in_burst)
        return self._take()

    def feed_typed_ahead(self, data: bytes) -> list[Press]:
        """The presses of bytes that were typed before raw mode: the terminal had made LF of Enter by then."""
        presses: list[Press] = []
        *lines, rest = data.split(b"\n")
        for line in lines:
            presses += self.feed(line)
            if self._paste is not None:
                self._paste += b"\n"
            else:
                presses += self.silence(PASTE_GAP)
                presses.append(Key.ENTER)
        return presses + self.feed(rest)

    def silence(self, seconds: float) -> list[Press]:
        """The presses that are decided by no byte having come for that long."""
        if self._paste is not None:
            if seconds >= LOST_PASTE_GAP:
                self._end_paste(bytes(self._paste))
            return self._take()
        if seconds >= BURST_GAP:
            self._end_burst()
        if seconds >= ESCAPE_GAP and self._sequence:
            if self._sequence == b"\x1b":
                self._emit(Key.ESCAPE)
            self._sequence.clear()
        if seconds >= PASTE_GAP:
            self._burst_lines = 0
        if seconds >= BURST_GAP and not self._burst_lines:
            self._settle_burst()
        return self._take()

    def _take(self) -> list[Press]:
        presses, self._presses = self._presses, []
        return presses

    def _emit(self, press: Press) -> None:
        """Give a press, and keep account of what comes in one burst; a key that is no text closes it."""
        if isinstance(press, Text):
            self._burst.append(press.text)
        elif press in _NEWLINES:
            self._burst.append("\n")
        else:
            self._settle_burst()
        self._presses.append(press)

    def _settle_burst(self) -> None:
        """What came in one burst until now is whole: say so if it is large."""
        if self._burst:
            text = "".join(self._burst)
            self._burst.clear()
            if is_large(text):
                self._presses.append(Burst(text))

    def _text(self, run: bytes) -> None:
        text = _CONTROLS.sub("", self._utf8.decode(run))
        if self._held:
            self._more_text_follows()
        if text:
            self._emit(Text(text))

    def _more_text_follows(self) -> None:
        """Text comes right behind a line end or a tab: both are part of a paste."""
        if self._held == "tab":
            self._emit(Text("\t"))
        else:
            self._emit(Key.PASTED_NEWLINE)
            self._burst_lines += 1
        self._held = ""

    def _end_burst(self) -> None:
        """No text comes behind a line end or a tab: they are keys, unless several lines came before."""
        if self._held == "tab":
            self._emit(Text("\t") if self._burst_lines else Key.TAB)
        elif self._held:
            self._emit(Key.PASTE_ENDED if self._burst_lines else Key.ENTER)
        self._held = ""
        self._in_burst = False

    def _byte(self, byte: int) -> None:
        """One byte that is a control character, or part of a sequence."""
        if self._sequence:
            self._sequence_byte(byte)
            return
        self._flush_utf8()
        if byte == _LF and self._held == "cr":
            self._held = "crlf"
        elif byte in (_CR, _TAB):
            if self._held:
                self._more_text_follows()
            self._held = "cr" if byte == _CR else "tab"
        elif byte == _LF and self._held == "crlf":
            self._more_text_follows()
            self._emit(Key.NEWLINE)
        else:
            self._end_burst()
            self._control(byte)

    def _flush_utf8(self) -> None:
        """A character cut short by a control character becomes U+FFFD."""
        rest = self._utf8.decode(b"", final=True)
        if rest:
            self._emit(Text(rest))

    def _control(self, byte: int) -> None:
        if byte == _ESC:
            self._sequence[:] = b"\x1b"
        else:
            self._emit(press_of_control(byte))

    def _sequence_byte(self, byte: int) -> None:
        sequence = self._sequence
        if len(sequence) == 1:
            self._after_escape(byte)
        elif sequence[1] in _STRING_STARTS:
            self._string_byte(byte)
        elif byte < 0x20 or byte == 0x7F:
            sequence.clear()
            self._byte(byte)
        else:
            self._csi_byte(byte)

    def _after_escape(self, byte: int) -> None:
        if byte in b"[O" or byte in _STRING_STARTS:
            self._sequence.append(byte)
            return
        self._sequence.clear()
        if byte in (_CR, _LF):
            self._emit(Key.NEWLINE)
        elif byte in (0x7F, 0x08):
            self._emit(Key.KILL_PART)
        elif 0x20 <= byte < 0x80:
            self._emit(Chord(f"\x1b{chr(byte)}"))
        else:
            self._emit(Key.ESCAPE)
            self._text(bytes((byte,))) if byte >= 0x80 else self._byte(byte)

    def _csi_byte(self, byte: int) -> None:
        """A byte of `ESC [ …` or `ESC O x`."""
        self._sequence.append(byte)
        body = self._sequence[2:]
        if self._sequence[1] == ord("O") or (0x40 <= byte <= 0x7E and body != b"["):
            sequence = self._sequence.decode("latin-1")
            self._sequence.clear()
            self._whole_sequence(sequence)
        elif byte >= 0x80 or len(self._sequence) >= MAX_SEQUENCE:
            self._sequence.clear()

    def _whole_sequence(self, sequence: str) -> None:
        if sequence == _PASTE_START:
            self._settle_burst()
            self._paste = bytearray()
            return
        press: Press | None
        if sequence[1] == "O":
            press = {"A": Key.UP, "B": Key.DOWN}.get(sequence[2]) or Chord(sequence)
        else:
            press = press_of_csi(sequence[2:-1], sequence[-1])
        if press is not None:
            self._emit(press)

    def _string_byte(self, byte: int) -> None:
        """A byte of an OSC, DCS, SOS, PM or APC: all of it is swallowed. Ctrl-C still gets through."""
        if byte in (0x03, 0x04):
            self._sequence.clear()
            self._byte(byte)
            return
        if self._sequence[-1] == _ESC and len(self._sequence) > 2:
            self._sequence.clear()
            if byte != ord("\\"):
                self._sequence[:] = b"\x1b"
                self._sequence_byte(byte)
            return
        self._sequence.append(byte)
        if byte in _ENDS_STRING_AT_ONCE or len(self._sequence) >= MAX_SEQUENCE:
            self._sequence.clear()

    def _feed_paste(self, data: bytes, position: int) -> int:
        """Take what belongs to the paste; the position behind it. The end mark may come in pieces."""
        assert self._paste is not None
        seen = len(self._paste)
        self._paste += data[position:]
        end = self._paste.find(_PASTE_END, max(0, seen - len(_PASTE_END)))
        if end < 0:
            return len(data)
        behind = end + len(_PASTE_END) - seen
        self._end_paste(bytes(self._paste[:end]))
        return position + behind

    def _end_paste(self, body: bytes) -> None:
        self._paste = None
        text = pasted_text(body.decode("utf-8", "replace"))
        if text:
            self._emit(Paste(text))
