"""The sample project of the demo: one wrong function and the test that shows it."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

PROMPT = "The test fails. Find out why, fix it, and run the test again."
CHECK = "python3 -m unittest -q test_calc"

FILES = {
    "calc.py": '''"""A little arithmetic."""


def add(a, b):
    """The sum of a and b."""
    return a - b
''',
    "test_calc.py": """import unittest

from calc import add


class AddTest(unittest.TestCase):
    def test_two_and_three_are_five(self):
        self.assertEqual(add(2, 3), 5)


if __name__ == "__main__":
    unittest.main()
""",
}


AGE_SECONDS = 60.0


def make_project() -> Path:
    """Write the project into a new folder of its own; the folder is the caller's to keep."""
    folder = Path(tempfile.mkdtemp(prefix="grokmini-demo-")).resolve()
    write_files(folder)
    return folder


def write_files(folder: Path) -> None:
    """Write the project's files, a minute old.

    Python knows a stale `.pyc` by size and whole seconds: a fix of the same size within the second in which the
    file was made would not be seen.
    """
    age = time.time() - AGE_SECONDS
    for name, text in FILES.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        os.utime(path, (age, age))
