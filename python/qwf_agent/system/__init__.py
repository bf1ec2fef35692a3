"""Interfaces to the operating system, and the helper processes that use them; what an installation
has, and what its commands return to a shell."""
