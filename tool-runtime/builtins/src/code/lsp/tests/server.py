"""A language server for tests. The content of a document decides how its requests are answered."""

import json
import os
import re
import sys
import threading

ENCODING, KIND = sys.argv[1], sys.argv[2]
documents, watched, cancelled, answers, root = {}, [], [], {}, []
busy = {"ended": None}
asked = threading.Event()
modified = []
lock = threading.Lock()


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    with lock:
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sys.stdout.buffer.flush()


def receive():
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            os._exit(0)
        if line == b"\r\n":
            return json.loads(sys.stdin.buffer.read(length))
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])


def width(text):
    return {"utf-8": len(text.encode()), "utf-16": len(text.encode("utf-16-le")) // 2, "utf-32": len(text)}[ENCODING]


def occurrences(text, word):
    for number, line in enumerate(text.split("\n")):
        for match in re.finditer(word, line):
            start, end = width(line[: match.start()]), width(line[: match.end()])
            yield {"start": {"line": number, "character": start}, "end": {"line": number, "character": end}}


def publish(uri, version):
    text = documents[uri]["text"]
    message = "bad" * 100_000 if "LONG" in text else "bad"
    diagnostics = [{"range": found, "severity": 1, "message": message} for found in occurrences(text, "ERR")]
    if KIND == "push":
        send({"method": "textDocument/publishDiagnostics", "params": {"uri": uri, "version": version, "diagnostics": []}})
        send({"method": "textDocument/publishDiagnostics", "params": {"uri": uri, "version": version, "diagnostics": diagnostics}})
    return diagnostics


def be_busy():
    token = {"token": "index"}
    send({"id": "p", "method": "window/workDoneProgress/create", "params": token})
    send({"method": "$/progress", "params": {**token, "value": {"kind": "begin", "title": "reading"}}})

    def finish():
        # Ends early for a client that does not wait.
        busy["ended"] = not asked.wait(0.5)
        send({"method": "$/progress", "params": {**token, "value": {"kind": "end"}}})

    busy["ended"] = False
    threading.Thread(target=finish, daemon=True).start()


def hover(id, uri):
    document = documents[uri]
    text = document["text"]
    if "CRASH_ONCE" in text and not os.path.exists("crashed"):
        open("crashed", "w").close()
        os._exit(3)
    if "CRASH_ALWAYS" in text:
        sys.stderr.write("the heap is full\n")
        sys.stderr.flush()
        os._exit(3)
    if "GARBAGE" in text:
        sys.stdout.buffer.write(b"Segmentation fault\r\n\r\n")
        sys.stdout.buffer.flush()
        return
    if "HUGE" in text:
        sys.stdout.buffer.write(b"Content-Length: 999999999999\r\n\r\n")
        sys.stdout.buffer.flush()
        return
    if "SLOW" in text:
        if os.path.exists("got"):
            with open("got", "w") as pipe:
                pipe.write("got")
        return
    if "REFUSED" in text:
        send({"id": id, "error": {"code": -32803, "message": "not here"}})
        return
    if "MODIFIED" in text and len(modified) < 2:
        modified.append(id)
        send({"id": id, "error": {"code": -32801, "message": "content modified"}})
        return
    if "ASK" in text and not answers:
        questions = {
            "q1": ("workspace/configuration", {"items": [{"section": "fake.level"}]}),
            "q2": ("workspace/applyEdit", {"edit": {}}),
            "q3": ("client/registerCapability", {"registrations": []}),
            "q4": ("own/question", {}),
        }
        for key, (method, params) in questions.items():
            send({"id": key, "method": method, "params": params})
        while len(answers) < len(questions):
            message = receive()
            answers[message["id"]] = message.get("result", message.get("error", {}).get("code"))
    state = {**document, "watched": sorted(watched), "cancelled": len(cancelled), "busy_ended": busy["ended"], "answers": answers, "root": root}
    send({"id": id, "result": {"contents": {"kind": "plaintext", "value": json.dumps(state)}}})


def references(uri, params):
    text, position = documents[uri]["text"], params["position"]
    found = [found for found in occurrences(text, r"\w+") if found["start"] == position]
    return [{"uri": uri, "range": range} for range in found] * (300 if "MANY" in text else 1)


def rename(uri, new_name):
    folder = os.path.dirname(uri.removeprefix("file://"))
    changes = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".x"):
            text = open(os.path.join(folder, name), newline="").read()
            edits = [{"range": found, "newText": new_name} for found in occurrences(text, "old")]
            if edits:
                changes.append({"textDocument": {"uri": "file://" + os.path.join(folder, name), "version": None}, "edits": edits})
    changes.append({"kind": "rename", "oldUri": uri, "newUri": uri + "2"})
    return {"documentChanges": changes}


def handle(method, id, params):
    uri = params.get("textDocument", {}).get("uri") if isinstance(params, dict) else None
    if method == "initialize":
        root.append(params["rootUri"].rsplit("/", 1)[1])
        capabilities = {name + "Provider": True for name in ["hover", "references", "definition", "rename"]}
        capabilities["positionEncoding"] = ENCODING if ENCODING in params["capabilities"]["general"]["positionEncodings"] else None
        if KIND == "pull":
            capabilities["diagnosticProvider"] = {}
        send({"id": id, "result": {"capabilities": capabilities}})
    elif method == "initialized":
        if os.path.exists("busy"):
            be_busy()
    elif method == "textDocument/didOpen":
        document = params["textDocument"]
        documents[uri] = {"text": document["text"], "version": document["version"], "id": document["languageId"]}
        publish(uri, document["version"])
        if os.path.exists("opened"):
            open("opened", "w").close()
    elif method == "textDocument/didChange":
        documents[uri]["text"] = params["contentChanges"][0]["text"]
        documents[uri]["version"] = params["textDocument"]["version"]
        publish(uri, documents[uri]["version"])
    elif method == "textDocument/didClose":
        documents.pop(uri)
    elif method == "workspace/didChangeWatchedFiles":
        watched.extend([change["type"], os.path.basename(change["uri"])] for change in params["changes"])
    elif method == "$/cancelRequest":
        cancelled.append(params["id"])
    elif method == "textDocument/hover":
        asked.set()
        hover(id, uri)
    elif method == "textDocument/references":
        send({"id": id, "result": references(uri, params)})
    elif method == "textDocument/definition":
        zero = {"line": 0, "character": 4}
        send({"id": id, "result": {"uri": "file:///etc/hostname", "range": {"start": zero, "end": zero}}})
    elif method == "textDocument/rename":
        send({"id": id, "result": rename(uri, params["newName"])})
    elif method == "textDocument/diagnostic":
        send({"id": id, "result": {"kind": "full", "items": publish(uri, 0)}})
    elif method == "shutdown":
        send({"id": id, "result": None})
    elif method == "exit":
        os._exit(0)


while True:
    message = receive()
    if "method" in message:
        handle(message["method"], message.get("id"), message.get("params"))
