"""Fair choices over HTTP: the agent behind an API, with durable state."""

from evenhand.service._config import Config, read_config
from evenhand.service._server import serve

__all__ = ["Config", "read_config", "serve"]
