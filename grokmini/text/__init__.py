"""Pure functions on text: width, wrapping, sanitising, SSE, diffs, tokens."""
