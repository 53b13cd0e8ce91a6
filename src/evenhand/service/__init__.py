"""The decision service: the learner behind an HTTP API, with durable state.

``http`` (requests, responses, authentication) calls ``engine`` (commands, events, counters), which
writes to one of ``stores``. ``views`` is what readers see, ``upkeep`` what runs beside requests or
from the command line, and ``page`` the dashboard.
"""

from evenhand.service.config import Config, read_config
from evenhand.service.http.server import serve

__all__ = ["Config", "read_config", "serve"]
