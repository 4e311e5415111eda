"""Policy files, and the nightly gate that applies them to a run and its track."""
