"""The exit codes of signals, and the line that tells of one. Imports nothing, so that Ctrl-C is answered at once."""

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


TERMINATED = 143
"""The exit code after SIGTERM, as a shell says it."""


STOPPED = "Stopped. Nothing was written under a final name."
