"""The attack table: what commands must not get done, by profile, with and without bubblewrap."""
