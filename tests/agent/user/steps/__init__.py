"""Node modules for the tests."""
