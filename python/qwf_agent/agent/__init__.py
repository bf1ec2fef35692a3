"""The parent process: claims jobs, has children run them, reports how they ended."""
