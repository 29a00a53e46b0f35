"""JSON out of what a model wrote around it."""

import json

MOST_STARTS = 200


def extract_json(text: str) -> str:
    """The first JSON object in a text: alone, in a fence, or between sentences. The text itself where there is none."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(MOST_STARTS):
        if start < 0:
            break
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        if isinstance(found, dict) and found:
            return text[start:end]
        start = text.find("{", end)
    return text
