"""The user's files: reading, writing and searching them."""
