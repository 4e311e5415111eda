"""The ledger: an index of run folders by track and night. Run folders and notes.jsonl stay the truth."""
