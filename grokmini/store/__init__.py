"""Session files: their layout, how they are written, and how they are read after a crash."""
