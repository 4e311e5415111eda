"""Row functions that pages name under `row:`, in the module of the page's kind."""
