"""Logs: one line an event on standard error, so that standard output stays for answers and MCP.

structlog brings rich and a hundred modules: it is imported with the first line that is logged, for
which most commands never have a reason. A line below the level imports nothing.
"""

import logging
import sys
import threading
from typing import TYPE_CHECKING, Any, Final, Literal, cast

if TYPE_CHECKING:
    import structlog
    from structlog.typing import FilteringBoundLogger

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "console", "json"]

_LEVELS: Final = {**logging.getLevelNamesMapping(), "EXCEPTION": logging.ERROR}

# What `configure` was asked for and structlog has not been told yet.
_waiting: "tuple[Level, Format] | None" = None
_telling: Final = threading.RLock()
# Below it nothing imports structlog; where it is imported, it has its own level.
_threshold = logging.WARNING


def configure(level: Level, format: Format = "auto") -> None:
    """Set up structlog and the libraries' loggers.

    `auto` is `console`, lines for people, where standard error is a terminal, and `json` elsewhere.
    """
    global _waiting, _threshold
    with _telling:
        _waiting, _threshold = (level, format), _LEVELS[level.upper()]
        if "structlog" in sys.modules:
            _tell_structlog()
    # Libraries speak only of what is wrong, and in the same form: one line an event.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(format))
    threshold = max(_threshold, logging.WARNING)
    logging.basicConfig(level=threshold, handlers=[handler], force=True)
    # During an outage the pool would report each of its attempts with a traceback of many lines;
    # the outage itself is told by whoever meets it.
    logging.getLogger("asyncpg.pool").setLevel(logging.ERROR)


def get_logger() -> "FilteringBoundLogger":
    """structlog's logger, as configured when it is called."""
    return cast("FilteringBoundLogger", _Logger())


class _Logger:
    """Stands for structlog's logger until something is logged."""

    def __getattr__(self, method: str) -> Any:
        below = _LEVELS.get(method.upper(), _threshold) < _threshold
        if below and "structlog" not in sys.modules:
            return _say_nothing
        import structlog

        _tell_structlog()
        return getattr(structlog.get_logger(), method)


def _say_nothing(*_: object, **__: object) -> None:
    """What a line below the level does."""


class _Formatter(logging.Formatter):
    """The libraries' lines in the same form."""

    def __init__(self, format: Format) -> None:
        super().__init__()
        self._form: Format = format
        self._made: logging.Formatter | None = None

    def format(self, record: logging.LogRecord) -> str:
        if self._made is None:
            import structlog

            self._made = structlog.stdlib.ProcessorFormatter(
                foreign_pre_chain=_shared(),
                processors=[
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    _renderer(self._form),
                ],
            )
        return self._made.format(record)


def _tell_structlog() -> None:
    """Configure it once; whoever logs meanwhile waits, or its defaults would write to stdout.

    In a program that never calls `configure`, and has not configured structlog either, it gets our
    form: by itself it would show the values of local variables, which are memories.
    """
    global _waiting
    import structlog

    if _waiting is None and structlog.is_configured():
        return
    with _telling:
        if _waiting is None:
            if not structlog.is_configured():
                structlog.configure(
                    processors=[*_shared(), _renderer("auto")],
                    logger_factory=_to_standard_error,
                )
            return
        level, form = _waiting
        structlog.configure(
            processors=[*_shared(), _renderer(form)],
            wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level.upper()]),
            logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
            cache_logger_on_first_use=False,
        )
        _waiting = None


def _to_standard_error(*_: object) -> "structlog.PrintLogger":
    """To where standard error is when a line is written: it is not ours to keep."""
    import structlog

    return structlog.PrintLogger(sys.stderr)


def _shared() -> "list[structlog.typing.Processor]":
    import structlog

    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        # Tracebacks as text, never with the values of local variables: they are memories.
        structlog.processors.format_exc_info,
    ]


def _renderer(format: Format) -> "structlog.typing.Processor":
    import structlog

    terminal = sys.stderr.isatty()
    if format == "console" or (format == "auto" and terminal):
        return structlog.dev.ConsoleRenderer(colors=terminal)
    return structlog.processors.JSONRenderer()
