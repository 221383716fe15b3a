"""The sample project of the demo: one wrong function and the test that shows it."""

from __future__ import annotations

import tempfile
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


def make_project() -> Path:
    """Write the project into a new folder of its own; the folder is the caller's to keep."""
    folder = Path(tempfile.mkdtemp(prefix="grokmini-demo-")).resolve()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
