"""Run a program within bounds: time, output, and nothing of it left behind.

No shell, an environment of its own, a process group of its own. The whole group is killed at the
end, whatever the end was: an agent's command line starts servers and workers that may outlive it.
"""

import asyncio
import contextlib
import os
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

# More than anybody reads of a failure; the head is dropped, because the cause comes last.
STDERR_TAIL_BYTES: Final = 8_192
_CHUNK_BYTES: Final = 65_536
_POLL_SECONDS: Final = 0.02
# A killed group needs no time; this only keeps a stuck system from holding the caller.
_FAREWELL_SECONDS: Final = 5


class OutputBoundPassed(Exception):
    """The program wrote more than it may, and was killed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended."""

    status: int
    stdout: bytes = field(repr=False)
    stderr_tail: bytes = field(repr=False)


async def run(
    command: Sequence[str],
    *,
    stdin: bytes,
    environment: Mapping[str, str],
    folder: Path,
    timeout_seconds: float,
    max_output_bytes: int,
    heard: Callable[[bytes], None] | None = None,
    reply: Callable[[bytes], str | None] | None = None,
) -> Ended:
    """Run `command` in `folder` with exactly this environment, and return how it ended.

    `heard` is told its output line by line, as it comes, each with its end. So is `reply`, and what
    it returns is written to the program after `stdin`; None is the last word.
    Raises TimeoutError, OutputBoundPassed, or OSError if it cannot be started. After an error or a
    cancellation, too, the program and all its children are dead.
    """
    async with asyncio.timeout(timeout_seconds):
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
        try:
            return await _converse(process, stdin, max_output_bytes, heard, reply)
        finally:
            _kill_group(process)
            await _whole(asyncio.create_task(_farewell(process)))


async def _converse(
    process: Process,
    stdin: bytes,
    max_output_bytes: int,
    heard: Callable[[bytes], None] | None,
    reply: Callable[[bytes], str | None] | None,
) -> Ended:
    to_program, stdout, stderr = _pipes(process)
    said: asyncio.Queue[bytes | None] = asyncio.Queue()
    said.put_nowait(stdin)

    def line_read(line: bytes) -> None:
        if heard is not None:
            heard(line)
        if reply is not None:
            part = reply(line)
            said.put_nowait(None if part is None else part.encode("utf-8", "replace"))

    if reply is None:
        said.put_nowait(None)
    feed = asyncio.create_task(_feed(to_program, said))
    output = asyncio.create_task(_read_bounded(stdout, max_output_bytes, line_read))
    errors = asyncio.create_task(_read_tail(stderr))
    exited = asyncio.create_task(_exit(process))
    try:
        await asyncio.wait({output, exited}, return_when=asyncio.FIRST_COMPLETED)
        if output.done():
            output.result()  # raises if it was too much
        status = await exited
        # Now, because a child that lives on would keep the pipes open and us reading.
        _kill_group(process)
        return Ended(status, await output, await errors)
    finally:
        for task in (feed, output, errors, exited):
            task.cancel()
        await asyncio.gather(feed, output, errors, exited, return_exceptions=True)


def _pipes(process: Process) -> tuple[StreamWriter, StreamReader, StreamReader]:
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise RuntimeError("the program was started without pipes")
    return process.stdin, process.stdout, process.stderr


async def _feed(to_program: StreamWriter, said: asyncio.Queue[bytes | None]) -> None:
    # A program may answer, or fail, without reading all that it is told.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while (part := await said.get()) is not None:
            to_program.write(part)
            await to_program.drain()
    to_program.close()


async def _read_bounded(
    stream: StreamReader, max_bytes: int, line_read: Callable[[bytes], None]
) -> bytes:
    content = bytearray()
    told = 0
    while chunk := await stream.read(_CHUNK_BYTES):
        content += chunk
        if len(content) > max_bytes:
            raise OutputBoundPassed
        end = content.rfind(b"\n", told) + 1
        if end:
            for line in bytes(content[told:end]).splitlines(keepends=True):
                line_read(line)
            told = end
    return bytes(content)


async def _read_tail(stream: StreamReader) -> bytes:
    content = bytearray()
    while chunk := await stream.read(_CHUNK_BYTES):
        content += chunk
        del content[:-STDERR_TAIL_BYTES]
    return bytes(content)


async def _exit(process: Process) -> int:
    # Not `process.wait()`: in Python 3.11 that waits until the pipes are closed as well, which a
    # child of the program can put off for ever.
    while process.returncode is None:  # noqa: ASYNC110 (no event tells of the exit alone)
        await asyncio.sleep(_POLL_SECONDS)
    return process.returncode


def _kill_group(process: Process) -> None:
    # The group bears the program's id, also after the program itself has ended.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _whole(task: asyncio.Task[None]) -> None:
    """Wait for `task` to its end, and only then raise a cancellation that came meanwhile.

    A cancelled caller may be cancelled again at each `await`; left to the closing event loop, the
    farewell would be cancelled with pipes still open.
    """
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            # The task's own cancellation ends the loop.
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()


async def _farewell(process: Process) -> None:
    """Wait until the program is reaped and its pipes are closed."""
    _, stdout, stderr = _pipes(process)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_FAREWELL_SECONDS):
            # What is still in the pipes would keep them open.
            for stream in (stdout, stderr):
                while await stream.read(_CHUNK_BYTES):
                    pass
            await process.wait()
