"""The shared part of the terminal and the page: the connection that reads, and how values are
written."""
