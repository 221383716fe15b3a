"""Tests of the session store."""
