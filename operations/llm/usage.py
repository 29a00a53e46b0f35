"""What one answer of a provider says it used."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, normalised: ``input_tokens`` and ``output_tokens`` are the totals and include the parts beside them."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_output_tokens: int = 0

    @property
    def total(self) -> int:
        """What counts towards a lane's limit."""
        return self.input_tokens + self.output_tokens
