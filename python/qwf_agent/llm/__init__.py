"""The client for model servers in bodies: a client that needs nothing but Python."""
