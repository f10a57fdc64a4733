"""Logs: one line an event on standard error, so that standard output stays for answers and MCP."""

import logging
import sys
from typing import Literal

import structlog

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "console", "json"]


def configure(level: Level, format: Format = "auto") -> None:
    """Set up structlog and the libraries' loggers.

    `auto` is `console`, lines for people, where standard error is a terminal, and `json` elsewhere.
    """
    threshold = logging.getLevelNamesMapping()[level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        # Tracebacks as text, never with the values of local variables: they are memories.
        structlog.processors.format_exc_info,
    ]
    terminal = sys.stderr.isatty()
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=terminal)
        if format == "console" or (format == "auto" and terminal)
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    # Libraries speak only of what is wrong, and in the same form: one line an event.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(level=max(threshold, logging.WARNING), handlers=[handler], force=True)
    # During an outage the pool would report each of its attempts with a traceback of many lines;
    # the outage itself is told by whoever meets it.
    logging.getLogger("asyncpg.pool").setLevel(logging.ERROR)
