"""`python -m genbench`, the same as `genbench`."""

from genbench.cli import main

main()
