class Submitted(Exception):  # noqa: N818  the package's name
    pass
