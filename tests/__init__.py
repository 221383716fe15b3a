"""The specification of grokmini, as tests."""
