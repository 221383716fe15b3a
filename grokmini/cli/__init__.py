"""The composition root: arguments, subcommands and the wiring of everything."""
