"""Tests of the chat state."""
