"""Messages and decisions, as `tool-runtime/remote/docs/protocol.md` has them and its vectors check them."""
import hashlib
import json

END, LATE = ("indeterminate", "its runner had to end"), ("cancelled", "another outcome counts")


def read(data):
    message = json.loads(data)
    if message["v"] != 1:
        raise ValueError(f"it has version {message['v']}, and this program reads version 1")
    return message


def write(value):
    """In canonical form, as long as there are no fractions and no keys beyond U+FFFF."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.encode(errors="replace")


def contract(definition):
    parts = {key: definition.get(key) for key in ("name", "inputSchema", "outputSchema")}
    hints = {key: hint for key, hint in definition["annotations"].items() if key != "title"}
    parts |= {"annotations": hints, "untrusted": False, "retry_mode": None, "scopes": []}
    return hashlib.sha256(write(parts)).hexdigest()


def on_end(mode, round, record):
    """What becomes of a round with this record. It may begin, and go on, as long as its outcome would be written."""
    if record and record["state"] == "done":
        may_run = mode == "safe_to_retry" or record.get("was") != "started"
        return "write" if "ran" not in record and record["round"] < round and may_run else "late"
    return "late" if record and (record["round"], record["state"] != "started") > (round, False) else "write"


def on_claim(mode, round, record):
    if on_end(mode, round, record) == "late":
        return "finish"
    # At most once: whether a runner that started the step is gone, callers find out.
    return "run" if mode == "safe_to_retry" else "later" if record and record["state"] == "started" else "write"


def error(kind, message):
    return {"error": {"class": kind, "message": message}}
