"""Upkeep: what runs beside requests or from the command line."""
