"""The built-in engine: no model, no key, no invention. It only chooses from the candidate's own words."""

from materials.builtin.letter import write_letter
from materials.builtin.limits import ONE_PAGE, TWO_PAGES, ResumeLimits
from materials.builtin.ranking import SkillFinder
from materials.builtin.resume import tailor_resume

__all__ = ["ONE_PAGE", "TWO_PAGES", "ResumeLimits", "SkillFinder", "tailor_resume", "write_letter"]
