"""An app that does not import."""

raise RuntimeError("this module is broken on purpose")
