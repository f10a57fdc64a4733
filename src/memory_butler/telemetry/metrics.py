"""What this process counts about itself, for Prometheus (`/metrics`).

Names of operations, jobs and events are the only labels. A tenant is none: their number is not
bounded, and a label would tell whoever reads the figures who is served here. Nothing that is stored
or asked can become a label.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.process_collector import ProcessCollector

from memory_butler.telemetry.counting import Counters, count_with

# Our own, so that a program that hosts this library decides what it shows of its other parts.
REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
_counter = partial(Counter, registry=REGISTRY)
_gauge = partial(Gauge, registry=REGISTRY)
_histogram = partial(Histogram, registry=REGISTRY)

# Seconds. A recall takes about 10 ms and a consolidation minutes.
_LATENCY: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600)
_WAIT: Final = (0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5)

OPERATIONS: Final = _histogram(
    "memory_butler_operation_seconds",
    "Duration of an operation, by how it ended: ok, refused, unavailable or failed (a bug).",
    ("operation", "outcome"),
    buckets=_LATENCY,
)
# Of the conventions for generative AI, gen_ai.client.operation.duration, its attributes and its
# boundaries, named as OpenTelemetry names a metric for Prometheus. A label without a value is none.
GEN_AI_OPERATIONS: Final = _histogram(
    "gen_ai_client_operation_duration_seconds",
    "Duration of a memory operation, as OpenTelemetry's GenAI conventions name it.",
    ("gen_ai_operation_name", "error_type"),
    buckets=tuple(0.01 * 2**step for step in range(14)),
)
POOL_WAIT: Final = _histogram(
    "memory_butler_pool_wait_seconds",
    "Time that a transaction waited for a database connection.",
    buckets=_WAIT,
)
POOL_CONNECTIONS: Final = _gauge(
    "memory_butler_pool_connections",
    "Database connections of this process: open, idle, and max as configured.",
    ("state",),
)
REPLICA_UP: Final = _gauge(
    "memory_butler_replica_up",
    "Whether the standby of read_dsn answered when it was last looked at; 0 without one.",
)
REPLICA_LAG: Final = _gauge(
    "memory_butler_replica_lag_seconds",
    "For how long the standby has not replayed what the primary had on disk.",
)
REPLICA_READS: Final = _counter(
    "memory_butler_replica_reads",
    "Reads by who answered: the standby, or the primary because the standby was behind or away.",
    ("outcome",),
)
EMBEDDING: Final = _histogram(
    "memory_butler_embedding_seconds",
    "Duration of one batch through the embedding model.",
    buckets=_LATENCY,
)
EMBEDDED_TEXTS: Final = _counter("memory_butler_embedded_texts", "Texts that were embedded.")
EMBEDDING_QUEUE: Final = _gauge(
    "memory_butler_embedding_queue",
    "Texts that wait for the embedding model: single ones, and those of bulk jobs.",
    ("kind",),
)
JOB_RUNS: Final = _counter(
    "memory_butler_job_runs",
    "Ticks of the schedule that this process ran, by status.",
    ("task", "status"),
)
JOB_SECONDS: Final = _histogram(
    "memory_butler_job_seconds",
    "Duration of a tick over all tenants.",
    ("task",),
    buckets=_LATENCY,
)
JOB_LAST_SUCCESS: Final = _gauge(
    "memory_butler_job_last_success_timestamp_seconds",
    "When a tick last succeeded in this process, in seconds since 1970.",
    ("task",),
)
EVENTS: Final = _counter(
    "memory_butler_events",
    "Committed changes by type of event: fading, expiry and recovery by decay among them.",
    ("type",),
)
DATABASE_UP: Final = _gauge(
    "memory_butler_database_up",
    "Whether the database answered when the backlog was last counted.",
)
BACKLOG: Final = _gauge(
    "memory_butler_backlog_episodes",
    "Episodes of all counted tenants that are not consolidated: pending, failed, dead_letter.",
    ("state",),
)
BACKLOG_AGE: Final = _gauge(
    "memory_butler_backlog_age_seconds",
    "Age of the oldest pending episode of all counted tenants; 0 when none is pending.",
)
BACKLOG_TENANTS: Final = _gauge(
    "memory_butler_backlog_tenants",
    "Tenants that have episodes: counted, and uncounted because there are too many.",
    ("state",),
)


class _Shown(Counters):
    def acquired(self, seconds: float) -> None:
        POOL_WAIT.observe(seconds)

    def embedded(self, texts: int, seconds: float) -> None:
        EMBEDDING.observe(seconds)
        EMBEDDED_TEXTS.inc(texts)

    def committed(self, changes: Mapping[str, int]) -> None:
        for event_type, count in changes.items():
            EVENTS.labels(event_type).inc(count)


count_with(_Shown())
