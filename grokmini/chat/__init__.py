"""The conversation: items, repair, requests, and the one task that owns them."""
