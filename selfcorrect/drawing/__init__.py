"""Draws graphs and runs, offline and from data alone: SVG, HTML, text."""
