"""The console script. It imports little, so that Ctrl-C ends with a message even while the rest is loading."""

from __future__ import annotations

import sys

from flows.cli.exit_codes import INTERRUPTED, STOPPED


def entry() -> int:
    """Run one command with `flows.cli.main.main` and return its exit code."""
    try:
        from flows.cli.stopping import watch

        watch()
        from flows.cli.main import main

        return main()
    except KeyboardInterrupt:  # before `watch`
        sys.stderr.write(f"{STOPPED}\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(entry())
