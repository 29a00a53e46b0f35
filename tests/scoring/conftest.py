"""The model providers on loopback, for scoring too."""

from tests.operations.conftest import _no_network_inside_writer, _started_models, models, one_connection

__all__ = ["_no_network_inside_writer", "_started_models", "models", "one_connection"]
