"""A siege: three servers under load are killed, stopped, cut off, filled and lied to at once."""
