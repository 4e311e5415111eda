"""`python -m genbench.cli`."""

from genbench.cli import main

main()
