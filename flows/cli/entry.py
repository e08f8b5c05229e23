"""The console script: it imports little itself, so that Ctrl-C is answered in words even while the rest loads."""

from __future__ import annotations

import sys

from flows.cli.exit_codes import INTERRUPTED, STOPPED


def entry() -> int:
    """Run one command, as `flows.cli.main.main` does, and return its exit code."""
    try:
        from flows.cli.main import main

        return main()
    except KeyboardInterrupt:
        sys.stderr.write(f"{STOPPED}\n")
        return INTERRUPTED
