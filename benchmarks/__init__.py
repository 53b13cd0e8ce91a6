"""Speed, as ratios within one run: absolute times on a shared machine say little."""
