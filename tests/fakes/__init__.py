"""Real stand-ins for what is outside: servers and terminals that tests can script."""
