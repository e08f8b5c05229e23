"""The console script. It imports nothing before `entry` is called, so that Ctrl-C is caught from then on."""


def entry() -> int:
    """Run one command with `flows.cli.main.main` and return its exit code."""
    try:
        from flows.cli.stopping import watch

        watch()
        from flows.cli.main import main

        return main()
    except KeyboardInterrupt:  # before `watch`
        import os

        from flows.cli.exit_codes import INTERRUPTED, STOPPED

        os.write(2, f"{STOPPED}\n".encode())
        return INTERRUPTED


if __name__ == "__main__":
    import sys

    sys.exit(entry())
