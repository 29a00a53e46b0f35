"""What a worker shows of itself beside its log: the SDK's metrics for Prometheus, and traces for a collector."""

import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from django.conf import settings
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from operations.errors import NotConfigured

if TYPE_CHECKING:
    from temporalio.worker import Interceptor

log = logging.getLogger(__name__)

SERVICE_NAME = "jobctrl-worker"
TRACING_PACKAGES = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http")


def serve_sdk_metrics() -> None:
    """Once a process and before its first client. Raises ``NotConfigured`` where the address cannot be listened on."""
    address = settings.JOBCTRL_WORKER_METRICS_ADDRESS
    if not address:
        return
    try:
        runtime = Runtime(telemetry=TelemetryConfig(metrics=PrometheusConfig(bind_address=address)))
    except (RuntimeError, ValueError) as error:
        raise NotConfigured(
            f"JOBCTRL_WORKER_METRICS_ADDRESS: nothing can listen on {address} ({str(error)[:120]}). Use a free one "
            "like 127.0.0.1:9464, and another for each worker of this machine."
        ) from None
    Runtime.set_default(runtime)
    log.info("the SDK's metrics are at http://%s/metrics", address)


def has_tracing_packages() -> bool:
    try:
        return all(
            find_spec(name) is not None
            for name in ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter")
        )
    except ModuleNotFoundError:
        return False


def build_tracing() -> "list[Interceptor]":
    """Traces of workflows and activities, by names and ids, sent to ``OTEL_EXPORTER_OTLP_ENDPOINT``; none where that is
    unset, or where what doctor names is not installed."""
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        return []
    if not has_tracing_packages():
        log.warning("no traces are sent: install %s", " and ".join(TRACING_PACKAGES))
        return []
    from opentelemetry import trace  # type: ignore[import-not-found,unused-ignore]
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # type: ignore[import-not-found,unused-ignore]
    from opentelemetry.sdk.resources import Resource  # type: ignore[import-not-found,unused-ignore]
    from opentelemetry.sdk.trace import TracerProvider  # type: ignore[import-not-found,unused-ignore]
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # type: ignore[import-not-found,unused-ignore]
    from temporalio.contrib.opentelemetry import TracingInterceptor

    provider: Any = TracerProvider(resource=Resource.create({"service.name": SERVICE_NAME}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    # The starter sends no trace context, so a run begins a trace of its own.
    return [TracingInterceptor(provider.get_tracer(SERVICE_NAME), always_create_workflow_spans=True)]
