"""Programs in processes of their own.

Three make rows in a Python with another tool, in the sandbox. One renders templates in this Python.
"""
