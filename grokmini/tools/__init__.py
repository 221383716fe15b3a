"""What the agent can do: the contract, the registry, permission and the tools."""
