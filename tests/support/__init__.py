"""What the tests stand on: servers, agents, sessions that race, models of the engine."""
