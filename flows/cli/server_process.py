"""The process of a temporary Prefect server; `flows.cli.temporary_server` starts it as a script.

It ends, with all processes it started, when its standard input closes: when the command that started it ends, however
it ends. Arguments: the number of the socket to listen on, then folders to remove at that end.
"""

import os
import shutil
import signal
import socket
import sys
import threading


def end_with_the_command() -> None:
    """Wait until standard input closes, then end this process and its group."""
    while os.read(0, 1):
        pass
    for folder in sys.argv[2:]:
        shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=end_with_the_command, daemon=True).start()
    os.umask(0o077)  # its database and what runs store there are the user's alone
    os.environ |= {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}

    import uvicorn

    server = "prefect.server.api.server:create_app"
    config = uvicorn.Config(server, factory=True, log_level="error", lifespan="on")
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
