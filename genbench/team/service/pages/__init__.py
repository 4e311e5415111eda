"""Pages for people, made on the server, and the forms on them."""
