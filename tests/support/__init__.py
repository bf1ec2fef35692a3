"""Servers, agents, sessions that race and models of the engine, for the tests."""
