"""django-eventstream's channel manager (``EVENTSTREAM_CHANNELMANAGER_CLASS``): who may listen."""

from typing import Any, Final

from django.http import HttpRequest
from django_eventstream.channelmanager import ChannelManagerBase  # type: ignore[import-untyped]
from django_eventstream.views import get_listener_manager  # type: ignore[import-untyped]

EVENTS: Final = "events"
LIVE: Final = "live"
CHANNELS: Final = frozenset({EVENTS, LIVE})


class SignedInChannelManager(ChannelManagerBase):  # type: ignore[misc]
    """Both channels are open to whoever is signed in; a workspace has one operator."""

    def get_channels_for_request(self, request: HttpRequest, view_kwargs: dict[str, Any]) -> set[str]:
        return {view_kwargs["channel"]}

    def can_read_channel(self, user: Any, channel: str) -> bool:
        return channel in CHANNELS and user is not None and bool(user.is_authenticated) and bool(user.is_active)

    def is_channel_reliable(self, channel: str) -> bool:
        return True


def close_streams(user_id: Any) -> None:
    """End this process's streams of a user who has signed out or may no longer listen."""
    for channel in CHANNELS:
        get_listener_manager().kick(user_id, channel)
