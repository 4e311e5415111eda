"""How mathematics is written: LaTeX, Unicode, plain text, numbers, formulas in a sentence."""
