"""Crossings: options of jobs, runs, definitions and limits, drawn two and three at a time, in short
histories of which each has to end, and to end as the documents say."""
