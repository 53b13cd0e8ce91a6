"""What everything stands on: arrays, checks, machine code, whole files, provenance, HTML."""
