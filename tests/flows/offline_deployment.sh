#!/usr/bin/env bash
# Server, work pool, deployment, worker and one run on simulated data, on this machine alone.
# Everything it writes goes to the folder given. End its process group afterwards: server and worker go on running.
set -euo pipefail
folder="$1"
root="$(cd "$(dirname "$0")/../.." && pwd)"
cd "$root"
port="$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"

export PREFECT_HOME="$folder/prefect" PREFECT_API_URL="http://127.0.0.1:$port/api" PREFSTUDY_ROOT="$root"
export DO_NOT_TRACK=1 PREFECT_SERVER_ANALYTICS_ENABLED=false NO_COLOR=1
export PREFECT_API_DATABASE_CONNECTION_URL="sqlite+aiosqlite:///$folder/prefect.db"
export PREFECT_WORKER_QUERY_SECONDS=1

prefect server start --port "$port" >"$folder/server.log" 2>&1 &
# It needs no server, so it is made while that starts.
python -m flows.cli.entry deployments >"$folder/prefect.yaml"
python - <<'END'
import os, time, urllib.request

for attempt in range(240):
    try:
        urllib.request.urlopen(os.environ["PREFECT_API_URL"] + "/health")
        break
    except OSError:
        time.sleep(0.5)
else:
    raise SystemExit("the server did not answer within two minutes")
END

prefect work-pool create prefstudy-gpu --type process &
gpu_pool=$!
prefect work-pool create prefstudy --type process
wait "$gpu_pool"
prefect worker start --pool prefstudy >"$folder/worker.log" 2>&1 &
prefect --no-prompt deploy --all --prefect-file "$folder/prefect.yaml"
prefect deployment run sushi/nightly --watch \
    --param config="{\"simulated\": true, \"users\": 20, \"protocols\": false, \"out\": \"$folder/runs\"}"
