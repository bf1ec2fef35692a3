"""A model of the engine, and steps that try it and the database side by side."""
