"""Hard limits on what reading one file may cost, for a process that does nothing else."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

MAX_SECONDS = 60.0
"""Processor time for one file; the longest filings take three seconds."""
MAX_WAIT = 600.0
"""Seconds by the clock for one file: a reader that waits for something takes no processor time."""
MAX_MEMORY = 6 * 2**30
"""Bytes of address space for a process that reads files."""


@contextmanager
def limited(seconds: float = MAX_SECONDS, memory: int = MAX_MEMORY, *, wait: float = MAX_WAIT) -> Iterator[None]:
    """Let the system end this process where what runs inside takes more time or memory than allowed.

    `seconds` are of the processor, `wait` by the clock, `memory` is bytes of address space.

    A PDF library that is caught in a hostile file cannot be stopped from within. So this is for worker processes
    whose end the parent process notices and reports. Where the system has no such limits (Windows), nothing is limited.
    """
    try:
        import resource
    except ImportError:
        yield
        return
    memory_before = resource.getrlimit(resource.RLIMIT_AS)
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGPROF, signal.SIGALRM)}
    with suppress(ValueError, OSError):  # a lower limit may already hold, and some systems refuse this one
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory_before[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, wait)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, memory_before)
