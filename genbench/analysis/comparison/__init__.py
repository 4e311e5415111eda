"""Two sides compared: what they must share, the paired differences, and the decisions."""
