"""`grokmini keys` at a terminal."""

from __future__ import annotations

import pexpect

from tests.e2e.program import PROGRAM, SECONDS, Place


def test_it_listens_until_ctrl_d_is_pressed_twice(place: Place) -> None:
    child = pexpect.spawn(str(PROGRAM), ["keys"], env=place.environment(), timeout=SECONDS)
    child.expect("Ctrl-D twice leaves")
    child.send("\x1b[Z")
    child.expect(r"\[Z +shift tab")
    child.send("\x04")
    child.expect("end of file")
    child.send("\x04")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
