"""The engine: commands become decisions and events, written in batches."""
