"""Text, Markdown, HTML and JSON output of results."""
