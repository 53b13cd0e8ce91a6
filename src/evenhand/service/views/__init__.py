"""Views: what readers see, computed from the store."""
