"""Exit codes after signals, and the message that goes with them. Imports nothing, so that Ctrl-C is caught early."""

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

TERMINATED = 143
"""Exit code after SIGTERM, as shells report it."""

HUNG_UP = 129
"""Exit code after SIGHUP: the terminal was closed."""

STOPPED = "Stopped. Nothing half-written was left behind."
