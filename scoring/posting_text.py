"""What an engine reads of a posting; the spans of a fit report count in it."""


def posting_text(title: str, description: str) -> str:
    """The text that requirement spans count in."""
    return f"{title}\n\n{description}"
