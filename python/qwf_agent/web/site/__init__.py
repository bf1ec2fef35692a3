"""Who may come, how a request becomes a page, and the files that are served."""
