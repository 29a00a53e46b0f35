"""What a scripted model answers to the two lanes of scoring, and which of them a request is of."""

import re
from typing import Any, Final

from scoring.contracts import Fit
from tests.modelserver import Asked, ModelServer
from tests.modelwires import Answer, Tokens

MODEL: Final = "gpt-5-mini"


def ask_for(quote: str, kind: str = "skill", *, tier: str = "must", weight: float = 1.0) -> dict[str, Any]:
    return {"quote": quote, "kind": kind, "scope": "resume", "tier": tier, "weight": weight}


def judge_all(asked: Asked, fit: Fit = Fit.MISSING, *, tokens: Tokens | None = None) -> Answer:
    """The same judgement for every requirement that a request names; it cites the first line of its profile."""
    material = split_messages(asked.body)[1]
    keys = re.findall(r"^([\w-]+) \((?:must|nice), ", material, re.MULTILINE)
    first = re.findall(r'<data name="profile"[^>]*>\n([^:\n]+): ', material)
    cited = first if fit is not Fit.MISSING else []
    judged = [{"requirement": key, "fit": fit.value, "evidence_ids": cited, "reason": ""} for key in keys]
    return Answer({"judgements": judged}, tokens=tokens or Tokens())


def read_lane(asked: Asked) -> str:
    """Which lane a request is of, by what its answer must hold."""
    return "score" if "evidence_ids" in str(asked.body["tools"]) else "analysis"


def list_lanes(models: ModelServer) -> list[str]:
    return [read_lane(asked) for asked in models.requests]


def split_messages(body: dict[str, Any]) -> tuple[str, str]:
    """Ours to the model, and the rest."""
    said: dict[bool, str] = {True: "", False: ""}
    for message in body["messages"]:
        said[message["role"] in ("system", "developer")] += str(message["content"])
    return said[True], said[False]
