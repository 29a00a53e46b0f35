"""The gate: nothing a document says may go beyond the profile. It judges documents, whoever wrote them."""

from materials.grounding.letter_gate import check_letter
from materials.grounding.problems import GroundingProblem, NotGrounded
from materials.grounding.resume_gate import check_resume

__all__ = ["GroundingProblem", "NotGrounded", "check_letter", "check_resume"]
