"""Beliefs: what is known of the rewards. A belief turns feedback, and a context, into samples."""
