"""Drawings that a page holds: a graph, a timeline, the lines that differ."""
