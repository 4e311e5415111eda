"""`python -m genbench.cli`, the same as `genbench`."""

from genbench.cli import main

main()
