"""The search index of the person's sessions, for the commands that search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from grokmini.config.paths import Places
from grokmini.protocol.errors import SessionError

if TYPE_CHECKING:
    from grokmini.store.search_index import SearchIndex


@contextmanager
def search_index(places: Places) -> Iterator[SearchIndex]:
    """The index, closed behind the block. Raises `SessionError` when it cannot be used."""
    import sqlite3

    from grokmini.store.search_index import SearchIndex

    index = SearchIndex(places.cache, places.state)
    try:
        yield index
    except (OSError, sqlite3.Error) as error:
        raise SessionError(
            f"the search index cannot be used: {error}", f"it can be made again: delete {places.cache}"
        ) from error
    finally:
        index.close()
