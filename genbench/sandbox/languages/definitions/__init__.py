"""One module for each language, see docs/extending/language.md."""
