"""What the operating system gives, and the helper processes that use it."""
