"""The drivers of harnesses: programs that the Python of a harness runs. They do not import genbench.

A digest of a driver's text is part of the terms of its runs, so a changed driver makes them incomparable.
"""
