"""The non-interactive front end: one prompt, one answer, an exit code."""
