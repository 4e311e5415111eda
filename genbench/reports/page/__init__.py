"""The page report.html: what it shows, its plots, its templates and the texts of its samples."""
