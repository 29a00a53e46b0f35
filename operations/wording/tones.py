from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """What a state asks of the reader; a chip's colour only confirms its word (spec/07, State vocabulary)."""

    RUNNING = "running"
    GOOD = "good"
    WAITING = "waiting"
    PERSON = "person"
    IDLE = "idle"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Wording:
    """``word`` stands on the chip, ``sentence`` beside or under it; "" = the word says it all."""

    word: str
    tone: Tone
    sentence: str = ""
