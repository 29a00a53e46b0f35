"""The abstract model that other apps' tables share; part of the engine's public surface."""

from operations.models.base import TenantModel

__all__ = ["TenantModel"]
