"""The model providers on the settings page: what is set up, and trying one. A key itself is never shown."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from operations.contracts import LANES
from operations.errors import OperationsError
from operations.llm.providers import KEYS_FOLDER, PROVIDERS, has_key, is_set_up, read_base_url
from operations.models import ProviderBreaker
from operations.services.providers import DEFAULT_LANE, find_lane, try_provider
from operations.settings_store import get_setting
from operations.views.spend_words import describe_trial
from operations.wording.lanes import name_lane

MODEL_LIMIT = 120


@dataclass(frozen=True, slots=True)
class ProviderLine:
    """``model`` is one that a lane uses, "" = none; ``counted`` is the lane that a question counts under."""

    name: str
    label: str
    has_key: bool
    is_set_up: bool
    is_elsewhere: bool
    is_paused: bool
    key_name: str
    key_file: str
    url_name: str
    model: str
    counted: str


def list_providers() -> list[ProviderLine]:
    paused = set(ProviderBreaker.objects.values_list("provider", flat=True))
    chosen, models = get_setting("provider"), get_setting("model")
    lines = []
    for name, facts in PROVIDERS.items():
        model = next((models[lane] for lane, provider in chosen.items() if provider == name and lane in models), "")
        lines.append(
            ProviderLine(
                name,
                facts.label,
                has_key(name),
                is_set_up(name),
                bool(read_base_url(name)),
                name in paused,
                facts.key_name,
                f"{KEYS_FOLDER}/{facts.key_name}",
                facts.url_name,
                model,
                name_lane(find_lane(name, model) if model else DEFAULT_LANE).lower(),
            )
        )
    return lines


def list_unready_lanes() -> list[str]:
    """Lanes whose model could not be asked: none is named, or its provider is not set up."""
    models, chosen = get_setting("model"), get_setting("provider")
    return [
        lane
        for lane in LANES
        if (provider := chosen.get(lane)) in PROVIDERS and (not models.get(lane) or not is_set_up(provider))
    ]


@require_POST
def ask_provider(request: HttpRequest) -> HttpResponse:
    """Try one. It waits for the answer, in the request's own thread."""
    back = redirect(f"{reverse('operations:settings')}#providers")
    provider, model = request.POST.get("provider", ""), request.POST.get("model", "").strip()
    if provider not in PROVIDERS:
        messages.error(request, "There is no such provider. Reload the page and choose again.")
        return back
    if not model or len(model) > MODEL_LIMIT or not model.isprintable():
        reason = f"Model: name one in up to {MODEL_LIMIT} plain characters, as {PROVIDERS[provider].label} writes it."
        messages.error(request, f"{reason} Nothing was asked.")
        return back
    try:
        trial = try_provider(provider=provider, model=model)
    except OperationsError as error:
        messages.error(request, error.message)
        return back
    (messages.success if trial.works else messages.warning)(request, describe_trial(trial))
    return back
