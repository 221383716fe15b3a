"""The program: `grokmini` and `python -m grokmini` both run this module."""

from grokmini.cli.main import main

raise SystemExit(main())
