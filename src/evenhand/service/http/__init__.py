"""HTTP: from a request to a command or a view, and back."""
