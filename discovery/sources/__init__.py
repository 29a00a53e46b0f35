"""Boards that list postings as JSON. Importing the package fills the registry in ``base``."""

from discovery.sources import ashby, greenhouse, lever

__all__ = ["ashby", "greenhouse", "lever"]
