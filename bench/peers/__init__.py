"""The peers: how to install each, fill its queue, run its workers and count its jobs."""
