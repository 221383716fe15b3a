"""The program: `grokmini` and `python -m grokmini` both run this module."""

from grokmini.cli.__main__ import main

raise SystemExit(main())
