"""Bounds of a profile file, importable without pydantic."""

MAX_ENTRIES = 100
