"""What ``GET /v1/metrics`` says, in Prometheus' terms. Labels are names of the product's own: never ids or texts."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Q
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from operations.contracts import HEARTBEAT_FRESH_SECONDS, StageName, StageState
from operations.eventlog import read_head
from operations.folding.engine import LIVE
from operations.models import ProjectionWatermark, WorkerRuntimeHeartbeat, WorkflowRunProjection
from operations.queries import OPEN_STATES
from operations.spend import read_spend_today
from operations.stage_engine.counters import read_counters
from operations.streaming.resets import count_resets
from operations.streaming.tailer import count_listeners, measure_lag
from operations.task_queue import read_backlog


def render_metrics() -> bytes:
    """Prometheus' text format. At most ten statements, each over an index range or a handful of rows, and questions to
    Temporal for at most two seconds, none where it does not answer."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(WorkspaceCollector())
    return generate_latest(registry)


class WorkspaceCollector(Collector):
    """Reads everything anew at each scrape: any web process gives the same answer, listeners apart."""

    def collect(self) -> Iterator[Metric]:
        yield from collect_workers()
        yield from collect_backlog()
        yield from collect_stages()
        yield from collect_projections()
        yield from collect_runs()
        yield from collect_spend()
        yield from collect_streams()

    def describe(self) -> Iterator[Metric]:
        return iter(())


def collect_workers() -> Iterator[Metric]:
    since = timezone.now() - timedelta(seconds=HEARTBEAT_FRESH_SECONDS)
    rows = WorkerRuntimeHeartbeat.objects.filter(last_seen_at__gte=since, stopped_at__isnull=True)
    living = list(rows.values_list("slots", "slots_busy"))
    yield gauge("jobctrl_workers", "Workers with a heartbeat of the last 45 seconds.", len(living))
    yield gauge("jobctrl_worker_slots", "Activities that the living workers can do at once.", sum(s for s, _ in living))
    yield gauge("jobctrl_worker_slots_busy", "Activities that they do now.", sum(busy for _, busy in living))


def collect_backlog() -> Iterator[Metric]:
    """Without a sample while Temporal does not answer: nobody knows it then."""
    backlog = GaugeMetricFamily(
        "jobctrl_queue_backlog",
        "Tasks that wait for a worker in Temporal's task queue, as Temporal estimates.",
        labels=("kind",),
    )
    for kind, count in read_backlog().items():
        backlog.add_metric((kind,), count)
    yield backlog


def collect_stages() -> Iterator[Metric]:
    """Every combination is there from the start, so that an alert on one works before its first job."""
    counts = read_counters()
    rows = GaugeMetricFamily(
        "jobctrl_stage_rows", "Jobs by stage and state; pending and queued ones wait.", labels=("stage", "state")
    )
    for stage in StageName:
        for state in StageState if stage is not StageName.DISCOVER else ():
            rows.add_metric((stage, state), counts.get(stage, {}).get(state, 0))
    yield rows


def collect_projections() -> Iterator[Metric]:
    head = read_head()
    live = GaugeMetricFamily("jobctrl_projections_live", "1 while its projections follow the log.", labels=("app",))
    lag = GaugeMetricFamily(
        "jobctrl_projections_lag", "Event ids between an app's watermark and the newest event.", labels=("app",)
    )
    rows = ProjectionWatermark.objects.order_by("app").values_list("app", "state", "last_event_id")
    for app, state, position in rows:
        # A live app folds in the transaction that appends: whatever ids lie between are markers.
        live.add_metric((app,), float(state == LIVE))
        lag.add_metric((app,), 0 if state == LIVE else max(0, head - position))
    yield live
    yield lag
    yield gauge("jobctrl_events_head", "Id of the newest event.", head)


def collect_runs() -> Iterator[Metric]:
    is_open, is_provisional = Q(status__in=OPEN_STATES), Q(provisional=True)
    runs = WorkflowRunProjection.objects.filter(is_open | is_provisional)
    found = runs.aggregate(open=Count("pk", filter=is_open), provisional=Count("pk", filter=is_provisional))
    yield gauge("jobctrl_runs_open", "Workflow runs that have not ended.", found["open"])
    yield gauge("jobctrl_runs_provisional", "Runs whose end is only assumed.", found["provisional"])


def collect_spend() -> Iterator[Metric]:
    spend = read_spend_today(timezone.now())
    yield gauge(
        "jobctrl_spend_today_usd", "Spent on models since midnight UTC, as far as it is known.", float(spend.spent_usd)
    )
    yield gauge(
        "jobctrl_spend_unknown_calls",
        "Calls of models since midnight UTC that did not say what they used.",
        spend.unknown,
    )
    yield gauge("jobctrl_spend_ceiling_usd", "The day's ceiling; 0 is none.", float(spend.ceiling_usd))


def collect_streams() -> Iterator[Metric]:
    listeners = GaugeMetricFamily(
        "jobctrl_stream_listeners", "Open event streams of the process that answers.", labels=("channel",)
    )
    for channel, count in count_listeners().items():
        listeners.add_metric((channel,), count)
    yield listeners
    resets = CounterMetricFamily(
        "jobctrl_stream_resets",
        "Clients of the process that answers that were told to begin again; slow_client: it was dropped.",
        labels=("channel", "cause"),
    )
    for (channel, cause), count in count_resets().items():
        resets.add_metric((channel, cause), count)
    yield resets
    yield gauge(
        "jobctrl_stream_lag", "Event ids that the process that answers has yet to hand to its streams.", measure_lag()
    )


def gauge(name: str, documentation: str, value: float) -> Metric:
    return GaugeMetricFamily(name, documentation, value=value)
