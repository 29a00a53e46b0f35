"""The built-in engine: no key, no network, no tokens, and the same answer every time."""

from scoring.builtin.assessment import assess_fit, find_open_questions
from scoring.builtin.extraction import extract_requirements, find_warnings
from scoring.builtin.summary import summarize_items
from scoring.builtin.terms import find_terms, is_shown_nowhere
from scoring.builtin.vocabulary import find_skills, list_implied_skills, related_skills

__all__ = [
    "assess_fit", "extract_requirements", "find_open_questions", "find_skills", "find_terms", "find_warnings",
    "is_shown_nowhere", "list_implied_skills", "related_skills", "summarize_items",
]  # fmt: skip
