"""httpx without its command line.

The package tries to import its own command line, which brings click, rich and pygments when they are installed
(100 ms), and goes on without when it cannot. So for the time of the import it cannot.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import cast

_COMMAND_LINE = "httpx._main"
_modules = cast("dict[str, ModuleType | None]", sys.modules)
_blocked = "httpx" not in sys.modules
if _blocked:
    _modules[_COMMAND_LINE] = None
try:
    import httpx
finally:
    if _blocked:
        del _modules[_COMMAND_LINE]

__all__ = ["httpx"]
