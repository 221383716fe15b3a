"""Tests of the REPL."""
