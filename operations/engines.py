"""The provider seam of every lane: the engine that the operator chose, among those that the lane's app offers."""

from typing import TypeVar

from operations.errors import NotConfigured
from operations.settings_store import get_lane_provider

T = TypeVar("T")


def choose_engine(lane: str, engines: dict[str, T]) -> tuple[str, T]:
    """The engine of a lane by name; raises ``NotConfigured`` for one that is not there."""
    name = get_lane_provider(lane)
    if name not in engines:
        raise NotConfigured(f"The provider {name} of the {lane} lane is not available.")
    return name, engines[name]
