"""The statements of the page: its sessions, its one reader for all tabs, and what changed."""
