"""What a track of runs shows: its changes, its series against the base, and one sentence."""
