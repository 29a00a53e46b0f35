"""How often this process told a client that it must begin again, and why."""

import threading
from collections import Counter
from typing import Final

from operations.streaming.channel_manager import EVENTS, LIVE

SLOW_CLIENT: Final = "slow_client"
LONG_GAP: Final = "long_gap"
CAUSES: Final = (SLOW_CLIENT, LONG_GAP)

_lock = threading.Lock()
_resets: Counter[tuple[str, str]] = Counter()


def note_reset(channel: str, cause: str) -> None:
    with _lock:
        _resets[channel, cause] += 1


def count_resets() -> dict[tuple[str, str], int]:
    """By channel and cause, since the process began; every pair is there."""
    with _lock:
        return {(channel, cause): _resets[channel, cause] for channel in (EVENTS, LIVE) for cause in CAUSES}
