"""Container images for agents: kept, unpacked, and run in boxes without a daemon and without root.

`ids`, `unpack`, `box`, `keeper` and `client` run in processes of their own with the standard library alone.
"""
