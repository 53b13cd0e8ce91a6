"""CSMAB-F as an environment of Gymnasium's, for those who would rather train a policy."""

from evenhand.core.extras import extras_named as _extras_named

with _extras_named():
    from evenhand.gym._environment import ENVIRONMENT_ID, FairBanditEnv

__all__ = ["ENVIRONMENT_ID", "FairBanditEnv"]
