"""The program: `grokmini` and `python -m grokmini` both run this module."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # `-m` puts the current folder first, and what lies there must not be taken for a library

from grokmini.cli.main import main

raise SystemExit(main())
