"""Interfaces to the operating system, and the helper processes that use them."""
