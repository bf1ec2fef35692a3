"""The same workflows on qwf and on other engines."""
