"""Which providers there are, where their keys lie, and their clients with everything repeated by themselves turned off.

A key lives in the environment or in ``JOBCTRL_HOME/keys/NAME``; it is read when it is used and shown to nobody.
"""

import functools
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from operations.llm.authority import BUILTIN
from operations.llm.errors import ProviderNotSetUp
from operations.llm.ledger import Target
from operations.settings_store import get_setting

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

KEYS_FOLDER = "keys"
LONGEST_KEY = 1000


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """``label`` is for people; a provider without ``url_name`` has one address only."""

    name: str
    label: str
    key_name: str
    url_name: str
    needs_key: bool = True


PROVIDERS: dict[str, ProviderFacts] = {
    facts.name: facts
    for facts in (
        ProviderFacts("openai", "OpenAI or compatible", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ProviderFacts("anthropic", "Anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ProviderFacts("google", "Google", "GOOGLE_API_KEY", "GOOGLE_BASE_URL"),
    )
}


def read_base_url(provider: str) -> str:
    """The operator's own address of a provider; "" = the provider's."""
    return str(getattr(settings, PROVIDERS[provider].url_name)).rstrip("/")


def has_key(provider: str) -> bool:
    return bool(_read_key(provider))


def is_set_up(provider: str) -> bool:
    """A server of the operator's own may need no key."""
    return has_key(provider) or (provider == "openai" and bool(read_base_url(provider)))


def _read_key(provider: str) -> str:
    name = PROVIDERS[provider].key_name
    key = str(getattr(settings, name)).strip()
    if key:
        return key
    path: Path = settings.JOBCTRL_HOME.root / KEYS_FOLDER / name
    try:
        with path.open(encoding="ascii") as file:
            return file.read(LONGEST_KEY).strip()
    except (OSError, UnicodeDecodeError):
        return ""


def choose_target(lane: str) -> Target:
    """The model that the operator chose for a lane. Raises ``ProviderNotSetUp`` naming what is missing."""
    provider = str(get_setting("provider").get(lane, BUILTIN))
    if provider not in PROVIDERS:
        raise ProviderNotSetUp(f"The {lane} lane has no model provider. Choose one in Settings.")
    return make_target(lane, provider, str(get_setting("model").get(lane, "")))


def make_target(lane: str, provider: str, model: str) -> Target:
    facts = PROVIDERS[provider]
    if not model:
        raise ProviderNotSetUp(f"model: no model is named for the {lane} lane. Name one in Settings.")
    if not is_set_up(provider):
        raise ProviderNotSetUp(
            f"{facts.label}: no key is set. Put it into {facts.key_name}, or into the file {KEYS_FOLDER}/"
            f"{facts.key_name} in the workspace's folder."
        )
    return Target(lane, provider, model)


def is_free(provider: str) -> bool:
    """Only where the operator said that a model at their own address costs nothing."""
    return provider == "openai" and bool(read_base_url(provider)) and bool(get_setting("self_hosted_free"))


@functools.cache
def trusted_authorities() -> ssl.SSLContext:
    """Made once: reading the certificates takes longer than a short call."""
    return ssl.create_default_context()


def build_model(target: Target, client: "httpx2.AsyncClient") -> "Model":
    """The provider's own client, without repeats of its own: each attempt is admitted by itself."""
    url, key = read_base_url(target.provider) or None, _read_key(target.provider)
    if target.provider == "openai":
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        openai = AsyncOpenAI(api_key=key or "none", base_url=url, max_retries=0, http_client=client)
        return OpenAIChatModel(target.model, provider=OpenAIProvider(openai_client=openai))
    if target.provider == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        anthropic = AsyncAnthropic(api_key=key, base_url=url, max_retries=0, http_client=client)
        return AnthropicModel(target.model, provider=AnthropicProvider(anthropic_client=anthropic))
    from google.genai import Client
    from google.genai.types import HttpOptions, HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    trusted = trusted_authorities()  # left out, each client reads the certificates twice
    options = HttpOptions(
        base_url=url,
        httpx_async_client=client,
        timeout=int((client.timeout.read or 0) * 1000) or None,
        retry_options=HttpRetryOptions(attempts=1),
        client_args={"verify": trusted},
        async_client_args={"verify": trusted, "ssl": trusted},  # the second for web sockets, which nothing here opens
    )
    google = Client(vertexai=False, api_key=key, http_options=options)
    return GoogleModel(target.model, provider=GoogleProvider(client=google))
