"""What the terminal and the page share: the connection that reads, and how values are written."""
