"""From verdicts to numbers: tables, estimates, comparisons."""
