"""Running commands: the seam every child process goes through, and what confines it."""
