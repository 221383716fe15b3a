"""Pure data types that cross package borders: items, events, commands, requests, errors, and their JSON."""
