"""What a body uses to ask a model server: a client that needs nothing but Python."""
