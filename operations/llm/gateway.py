"""The one way to a model: a typed question, a typed answer, and every attempt of it admitted, recorded and counted."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

from operations.database import current_write
from operations.errors import OperationsError
from operations.llm.answer_time import read_answer_seconds
from operations.llm.answers import extract_json
from operations.llm.calls import Caller, get_caller
from operations.llm.errors import AnswerUnusable, ProviderBusy, ProviderNotSetUp, ProviderPaused, RequestRefused
from operations.llm.ledger import Target, close_unknown, note_answer, note_error, note_refusal, open_attempt
from operations.llm.providers import build_model, choose_target, is_free, read_base_url, trusted_authorities
from operations.llm.threads import in_thread
from operations.settings_store import get_setting

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model

    from operations.llm.transport import Call

T = TypeVar("T")

CONNECT_SECONDS = 10.0
LONGEST_ANSWER = 8000
REPAIRS = 1
REFUSED_ACCOUNT = {401: "authentication", 402: "out_of_credit"}
BUSY = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """``instructions`` are ours and never hold a text from outside; ``material`` is what to judge.

    ``check`` says in a sentence for the model what is wrong with an answer, "" where nothing is; it may repair it once.
    """

    lane: str
    instructions: str
    material: str
    answer_type: type[T]
    check: Callable[[T], str] = lambda _: ""


def ask_model(question: Question[T], *, target: Target | None = None) -> T:
    """Ask the model of the question's lane. At most ``read_answer_seconds()`` an attempt.

    Raises ``BudgetExceeded``, ``ProviderPaused``, ``ProviderNotSetUp``, ``RequestRefused``, ``ProviderBusy``,
    ``AnswerUnusable``, ``StageCanceled`` or ``WorkerStops``; whatever an attempt used has been counted by then.
    Where the database took no more counts, that outage of it is raised.
    """
    from operations.llm.transport import Call

    if current_write() is not None:  # the attempt is recorded by another thread, which would wait for this writer()
        raise RuntimeError("a model is never asked inside writer()")
    chosen = target or choose_target(question.lane)
    call = Call(chosen, read_base_url(chosen.provider), is_free(chosen.provider))
    as_json, streams = get_setting("structured_output") == "json", bool(get_setting("model_streaming"))
    return asyncio.run(_ask(question, call, as_json=as_json, streams=streams))


async def _ask(question: Question[T], call: "Call", *, as_json: bool, streams: bool) -> T:
    import httpx2
    from pydantic_ai import Agent, ModelRetry, PromptedOutput, ToolOutput
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.usage import UsageLimits

    from operations.llm.transport import ObservingTransport

    seconds = read_answer_seconds()
    limits = httpx2.Timeout(seconds, connect=CONNECT_SECONDS)
    transport = ObservingTransport(call, httpx2.AsyncHTTPTransport(verify=trusted_authorities(), trust_env=False))
    async with httpx2.AsyncClient(
        transport=transport, timeout=limits, headers={"Accept-Encoding": "identity"}, follow_redirects=False
    ) as client:
        output: Any = PromptedOutput(question.answer_type) if as_json else ToolOutput(question.answer_type)
        agent: Any = Agent(
            make_gate(build_model(call.target, client), call, streams=streams, seconds=seconds),
            output_type=output,
            instructions=question.instructions,
            retries=REPAIRS,
            model_settings=ModelSettings(max_tokens=LONGEST_ANSWER),
        )

        @agent.output_validator  # type: ignore[untyped-decorator,unused-ignore]
        def check(answer: T) -> T:
            if complaint := question.check(answer):
                raise ModelRetry(complaint)
            return answer

        try:
            result = await agent.run(question.material, usage_limits=UsageLimits(request_limit=1 + REPAIRS))
        except UserError:
            raise ProviderNotSetUp("The provider's client refuses this model or its settings.") from None
        except Exception as error:
            if call.outage is not None:
                raise call.outage from None
            failure = await _translate(error, call)
            if failure is error:
                raise
            raise failure from None
    found: T = result.output
    return found


def make_gate(model: "Model", call: "Call", *, streams: bool, seconds: float) -> "Model":
    """The provider's model behind the authority: nothing leaves without an attempt that was admitted and committed.
    ``seconds`` are for each answer as a whole."""
    from pydantic_ai.models.wrapper import WrapperModel

    class Gate(WrapperModel):
        async def request(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> "ModelResponse":
            caller = get_caller()
            key = await in_thread(lambda: admit_attempt(call.target, caller))
            call.begin_attempt(key)
            try:
                async with asyncio.timeout(seconds):
                    try:
                        response = await self._answer(messages, model_settings, model_request_parameters)
                    finally:
                        await call.end_stream()
            except BaseException as error:
                code, status = name_error(error), call.status
                await in_thread(lambda: close_unknown(key, http_status=status, error_code=code))
                raise
            finally:
                call.key = None
                if call.is_answered:
                    await in_thread(lambda: note_answer(key, provider=call.target.provider))
            return tidy_response(response)

        async def _answer(self, messages: Any, settings: Any, parameters: Any) -> "ModelResponse":
            if not streams:
                return await self.wrapped.request(messages, settings, parameters)
            async with self.wrapped.request_stream(messages, settings, parameters) as stream:
                async for _ in stream:
                    pass
                return stream.get()

    return Gate(model)


def admit_attempt(target: Target, caller: Caller) -> UUID:
    """As ``open_attempt``; also raises what the caller's ``check_stop`` does."""
    caller.check_stop()
    return open_attempt(target, caller)


def tidy_response(response: "ModelResponse") -> "ModelResponse":
    """JSON that a model wrapped into a fence or into sentences, without them."""
    from pydantic_ai.messages import TextPart

    for part in response.parts:
        if isinstance(part, TextPart):
            part.content = extract_json(part.content)
    return response


def name_error(error: BaseException) -> str:
    """The type alone: its text may quote the request."""
    return type(error).__name__


async def _translate(error: Exception, call: "Call") -> Exception:
    """What an exception of the client means, by the status that the observer saw; the exception itself if nothing."""
    import httpx2
    from pydantic_ai.exceptions import AgentRunError, ModelConnectionError, ModelHTTPError

    if isinstance(error, OperationsError):
        return error
    status, provider = call.status, call.target.provider
    if isinstance(error, ModelHTTPError) and (status is None or status < 400):
        status = error.status_code  # told within a stream that had begun well
    if status is not None and 300 <= status < 400:
        return RequestRefused(
            f"The address of {provider} sends requests elsewhere (HTTP {status}), and they do not follow. "
            f"Set {provider.upper()}_BASE_URL to the address that answers."
        )
    reason = call.refusal or REFUSED_ACCOUNT.get(status or 0, "")
    if reason:
        key = call.attempts[-1]
        if not await in_thread(lambda: note_refusal(key, reason_code=reason, http_status=status)):
            return ProviderBusy(f"{provider} refused this account, but it has answered a later request.")
        return ProviderPaused(f"{provider} refuses this account: its key or its credit needs a look.")
    if status is not None and (status in BUSY or status >= 500):
        return ProviderBusy(f"{provider} could not answer now (HTTP {status}).", retry_after=call.retry_after)
    if status is not None and status >= 400:
        return RequestRefused(f"{provider} refused the request (HTTP {status}). Check the lane's model in Settings.")
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol | UnicodeError) and status is None:
        return ProviderNotSetUp(f"The address or the key of {provider} cannot be used. Check how they are written.")
    if isinstance(error, httpx2.HTTPError | TimeoutError | OSError | ModelConnectionError):
        return ProviderBusy(f"{provider} did not answer in time, or the connection broke.")
    if status is not None and isinstance(error, AgentRunError | ValueError | TypeError | LookupError | AttributeError):
        key = call.attempts[-1]
        await in_thread(lambda: note_error(key, error_code=AnswerUnusable.code))
        return AnswerUnusable()
    return error
