"""grokmini: an AI coding agent that lives in your scrollback."""

__version__ = "0.1.0"
