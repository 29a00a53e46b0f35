"""What one posting page says."""

from discovery.pages.extract import extract_page

__all__ = ["extract_page"]
