"""Access to the page, the answers to requests, and the files that are served."""
