"""The network gateway: every fetch of a board or a posting page goes through here."""

from discovery.gateway.answers import check_status, decode_json, decode_page, fetch_json
from discovery.gateway.errors import (
    BadContent,
    Denied,
    FetchCancelled,
    FetchError,
    NetworkFailure,
    NotFound,
    SourceUnavailable,
    TooLarge,
    UnsafeCause,
    UnsafeDestination,
)
from discovery.gateway.fetch import Network, Response, check_destination, fetch

__all__ = [
    "BadContent",
    "Denied",
    "FetchCancelled",
    "FetchError",
    "Network",
    "NetworkFailure",
    "NotFound",
    "Response",
    "SourceUnavailable",
    "TooLarge",
    "UnsafeCause",
    "UnsafeDestination",
    "check_destination",
    "check_status",
    "decode_json",
    "decode_page",
    "fetch",
    "fetch_json",
]
