"""The built-in engine: no key, no network, no tokens, and the same answer every time."""

from scoring.builtin.assessment import assess_fit
from scoring.builtin.extraction import extract_requirements, find_warnings
from scoring.builtin.vocabulary import find_skills, related_skills

__all__ = ["assess_fit", "extract_requirements", "find_skills", "find_warnings", "related_skills"]
