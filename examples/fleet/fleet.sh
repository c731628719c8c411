# Starts and ends the processes of a fleet; read by `start` and `rolling-restart`. Each NAME has a file NAME.pid and a file
# NAME.log in FLEET_STATE. FLEET_PROGRAMS has the programs; cargo builds them unless it is set.

# Starts a hub and six runners, and shows their status. All of them end with the shell.
start_fleet() {
    if [ -z "${FLEET_PROGRAMS:-}" ]; then
        (cd "$here" && cargo build --quiet)
        FLEET_PROGRAMS=${CARGO_TARGET_DIR:-$here/../../target}/debug
    fi
    FLEET_STATE=$(mktemp -d)
    trap end_fleet EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    write_tokens
    start_hub
    export FLEET_FILES="$FLEET_STATE/files"
    for queue in search files math; do
        for replica in 1 2; do start_runner $queue $replica; done
    done
    export FLEET_HUB TOOL_REMOTE_TOKEN="$(cat "$FLEET_STATE/gateway.token")"
    "$FLEET_PROGRAMS/fleet" remote status --connect "$FLEET_HUB"
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

# The system chooses the port.
start_hub() {
    background hub "$FLEET_PROGRAMS/fleet" remote serve \
        --listen 127.0.0.1:0 --db "$FLEET_STATE/remote.db" --tokens "$FLEET_STATE/tokens"
    wait_for_line hub listening
    FLEET_HUB=$(sed -n 's/^listening on //p' "$FLEET_STATE/hub.log")
}

start_runner() {
    background "$1-$2" "$FLEET_PROGRAMS/fleet" run --connect "$FLEET_HUB" --queue "$1" --slots 4 --allow "$1.*" \
        --token-file "$FLEET_STATE/runner.token"
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
    end "$FLEET_STATE/hub.pid"
    rm -rf "$FLEET_STATE"
}

end() {
    if [ -e "$1" ] && kill "$(cat "$1")" 2>/dev/null; then wait "$(cat "$1")" || true; fi
}
