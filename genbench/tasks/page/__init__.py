"""Tasks that a page describes: the keys of a page, its reader, and the task that it makes."""
