"""Settings, places on disk, models, and where each value came from."""
