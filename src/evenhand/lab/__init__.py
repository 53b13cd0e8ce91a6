"""The laboratory: the paper reproduced, and science beside it, judged by one framework.

A claim has a rule: what is measured, and the bound that it must be in. :mod:`evenhand.lab.judging`
turns measurements into verdicts, for the paper's claims and for the checks against other sources.
"""
