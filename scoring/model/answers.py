"""What a model must answer in each lane; everything in it is bounded."""

from typing import Annotated

from pydantic import BaseModel, Field

from scoring.contracts import Fit, Kind, Scope, Tier

MOST_REQUIREMENTS = 40
LONGEST_QUOTE = 500
LEAST_WEIGHT, MOST_WEIGHT = 0.25, 3.0
MOST_CITED = 6

ShortId = Annotated[str, Field(min_length=1, max_length=120)]


class AskedFor(BaseModel):
    """One thing that the posting asks for."""

    quote: str = Field(
        min_length=1,
        max_length=LONGEST_QUOTE,
        description="The words of the posting that ask for it, copied character by character, as short as possible.",
    )
    kind: Kind
    scope: Scope = Field(description="resume: a resume can show it. logistics: place, pay, hours, leave to work.")
    tier: Tier = Field(description="must: asked for. nice: only wished for.")
    weight: float = Field(
        ge=LEAST_WEIGHT,
        le=MOST_WEIGHT,
        allow_inf_nan=False,
        description="How much it matters for this work; 1 is usual.",
    )


class AnalysisAnswer(BaseModel):
    """What the posting asks for, each thing once. Empty where it asks for nothing."""

    requirements: list[AskedFor] = Field(max_length=MOST_REQUIREMENTS)


class Judgement(BaseModel):
    """How well the profile answers one requirement."""

    requirement: ShortId = Field(description="The requirement's id, as given.")
    fit: Fit
    evidence_ids: list[ShortId] = Field(
        max_length=MOST_CITED, description="Ids of the profile lines that show it, as given; empty where none does."
    )
    reason: str = Field(max_length=1000, description="One short sentence that says why.")


class FitAnswer(BaseModel):
    """One judgement for each requirement."""

    judgements: list[Judgement] = Field(max_length=MOST_REQUIREMENTS)
