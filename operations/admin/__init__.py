"""The operator's window over the engine's tables. Each module registers its own."""

from operations.admin import access, log, projections, runtime, spend, stages

__all__ = ["access", "log", "projections", "runtime", "spend", "stages"]
