"""Folding the event log into projection tables: live, catching up and rebuilding share one batch fold."""

from operations.folding.registry import ProjectionTable, fold, list_apps, list_tables, project

__all__ = ["ProjectionTable", "fold", "list_apps", "list_tables", "project"]
