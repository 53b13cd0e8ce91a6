"""Programs that use the service: ask and tell over HTTP, from threads or from asyncio."""

from evenhand.client._async import AsyncClient
from evenhand.client._client import Client

__all__ = ["AsyncClient", "Client"]
