"""The developer table: everyday commands that every profile lets work, or refuses by choice."""
