"""Other people's libraries beside this one: the same instance, speed and reward."""
