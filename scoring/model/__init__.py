"""The lanes ``analysis`` and ``score`` by a language model: it reads and compares, and never names the score."""

from scoring.model.analysis import analyze_posting
from scoring.model.judging import judge_requirements

__all__ = ["analyze_posting", "judge_requirements"]
