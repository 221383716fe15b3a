"""HTTP. The only package that imports httpx."""
