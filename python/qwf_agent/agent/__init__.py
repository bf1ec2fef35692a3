"""The parent process: claims jobs, runs them in children and reports how they ended."""
