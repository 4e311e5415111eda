"""The commands gate, trend and ledger."""
