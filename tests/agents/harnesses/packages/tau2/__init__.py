"""A package with the interface of tau2's first versions, as far as the adapter uses it.

A task says in `description` how its conversation goes: `plain`, `forever`, `broken` (what the agent wrote is
no message), `deaf` (the user gives no reply).
"""
