"""The engine: one task a session, commands in, events out."""
