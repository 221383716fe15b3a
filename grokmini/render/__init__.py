"""Events to blocks, blocks to lines. No terminal and no session."""
