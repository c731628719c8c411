//! An MCP server over standard input and output that misbehaves on request.
//!
//! Its one argument is a script, a JSON object:
//!
//! | Key | Does |
//! |---|---|
//! | `version` | `2025-11-25` (default), or `2026-07-28` |
//! | `probe` | how a server of 2025-11-25 handles `server/discover`: `reject` (default), `params` (-32602), `die`, `ignore`, `garbage`; `late`, in either version: the first process answers it when `initialize` arrives |
//! | `tools` | their names; the first part of a tool's name selects its behaviour, see `call` |
//! | `definitions` | definitions of further tools |
//! | `title` | its title and its instructions, up to 2025-11-25 |
//! | `pages` | tools per page |
//! | `cursor` | `repeat`: the last page names the first one again |
//! | `starts` | a file: each start appends a line to it |
//! | `dead` | number of starts that exit immediately, with text on standard error |
//! | `usage` | printed on standard output before it exits |
//! | `noise` | printed on standard output before its first answer |
//! | `log` | a file: each call that arrives appends a line of JSON to it, with `tool` and `arguments` |
//! | `task` | the line that answers `tasks/get`, with the id instead of `ID` |
//! | `slow` | milliseconds before the first answer |
//! | `stays` | it ignores the end of its input |

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{BufRead as _, Write as _};
use std::process::exit;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let script = std::env::args().nth(1).unwrap_or_else(|| "{}".to_owned());
    let script: Value = serde_json::from_str(&script).expect("a script in JSON");
    let start = record_start(&script);
    if start <= script["dead"].as_u64().unwrap_or(0) {
        eprintln!("this is start {start}, and it ends here");
        exit(3);
    }
    if let Some(usage) = script["usage"].as_str() {
        print(usage);
        exit(2);
    }
    if let Some(noise) = script["noise"].as_str() {
        print(noise);
    }
    thread::sleep(Duration::from_millis(script["slow"].as_u64().unwrap_or(0)));
    let server = Arc::new(Server::new(script));
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Ok(message) = serde_json::from_str::<Value>(&line) {
            server.handle(message);
        }
    }
    if server.script["stays"] == true {
        loop {
            thread::park();
        }
    }
}

/// Number of this start, from the file of starts.
fn record_start(script: &Value) -> u64 {
    let Some(file) = script["starts"].as_str() else { return 1 };
    let mut starts = OpenOptions::new().append(true).create(true).open(file).expect("a file");
    writeln!(starts, "{}", std::process::id()).expect("room for a line");
    let text = std::fs::read_to_string(file).expect("a file");
    u64::try_from(text.lines().count()).expect("few starts")
}

struct Server {
    script: Value,
    tools: Mutex<BTreeSet<String>>,
    /// The ids of requests that were cancelled.
    cancelled: Mutex<Vec<Value>>,
    /// Number of received calls.
    calls: Mutex<Vec<String>>,
    /// The probe that is answered late.
    probe: Mutex<Option<Value>>,
    /// The subscription for changes, in 2026-07-28.
    listening: Mutex<Option<Value>>,
    /// Calls that wait for an answer to a question of this server.
    asking: Mutex<Vec<Value>>,
    /// The call of `walk`: its id, its progress token and the number of steps.
    walk: Mutex<(Value, Value, u64)>,
}

impl Server {
    fn new(script: Value) -> Self {
        let names = script["tools"].as_array().cloned().unwrap_or_default();
        let names = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Self {
            script,
            tools: Mutex::new(names),
            cancelled: Mutex::default(),
            calls: Mutex::default(),
            probe: Mutex::default(),
            listening: Mutex::default(),
            asking: Mutex::default(),
            walk: Mutex::default(),
        }
    }

    fn is_stateless(&self) -> bool {
        self.script["version"] == "2026-07-28"
    }

    fn handle(self: &Arc<Self>, message: Value) {
        let (id, params) = (message["id"].clone(), message["params"].clone());
        let method = message["method"].as_str();
        if method == Some("initialize")
            && let Some(probe) = self.probe.lock().unwrap().take()
        {
            self.discover(&probe);
        }
        match method {
            Some("server/discover")
                if self.script["probe"] == "late" && self.start_count() == 1 =>
            {
                *self.probe.lock().unwrap() = Some(id);
            }
            Some("server/discover") => self.discover(&id),
            Some("initialize") if self.is_stateless() => reject(&id, -32601, "no such method"),
            Some("initialize") => answer(
                &id,
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": { "tools": { "listChanged": true } },
                    "serverInfo": { "name": "faulty", "version": "1", "title": self.script["title"] },
                    "instructions": self.script["title"],
                }),
            ),
            Some("tools/list") => self.list(&id, &params),
            Some("subscriptions/listen") => {
                *self.listening.lock().unwrap() = Some(id.clone());
                self.notify_client(
                    "notifications/subscriptions/acknowledged",
                    json!({
                        "notifications": { "toolsListChanged": true },
                    }),
                );
            }
            Some("tools/call") => {
                let server = Arc::clone(self);
                thread::spawn(move || server.call(&id, &params));
            }
            Some("notifications/cancelled") => {
                self.cancelled.lock().unwrap().push(params["requestId"].clone());
            }
            Some("tasks/get") if self.script["task"].is_string() => {
                let line = self.script["task"].as_str().unwrap_or_default();
                print(&line.replace("ID", &id.to_string()));
            }
            Some("ping") => answer(&id, json!({})),
            Some(_) if id.is_null() => {}
            Some(_) => reject(&id, -32601, "no such method"),
            None => self.handle_answer(&message),
        }
    }

    fn discover(&self, id: &Value) {
        if !self.is_stateless() {
            return self.answer_probe(id);
        }
        answer(
            id,
            json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": { "listChanged": true } },
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "faulty", "version": "1" } },
            }),
        );
    }

    fn answer_probe(&self, id: &Value) {
        match self.script["probe"].as_str() {
            Some("die") => {
                eprintln!("what is server/discover?");
                exit(1);
            }
            Some("ignore") => {}
            Some("garbage") => print("what is server/discover?"),
            Some("params") => reject(id, -32602, "Invalid request parameters"),
            _ => reject(id, -32601, "Method not found"),
        }
    }

    fn list(&self, id: &Value, params: &Value) {
        let mut tools: Vec<Value> =
            self.tools.lock().unwrap().iter().map(|name| tool(name)).collect();
        tools.extend(self.script["definitions"].as_array().into_iter().flatten().cloned());
        let size = usize::try_from(self.script["pages"].as_u64().unwrap_or(1000)).unwrap();
        let start = params["cursor"].as_str().map_or(0, |at| at.parse().unwrap_or(0));
        let end = tools.len().min(start + size);
        let mut result = json!({ "tools": tools[start..end] });
        if end < tools.len() {
            result["nextCursor"] = end.to_string().into();
        } else if self.script["cursor"] == "repeat" {
            result["nextCursor"] = size.to_string().into();
        }
        if self.is_stateless() {
            result["resultType"] = "complete".into();
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
        answer(id, result);
    }

    /// The part of a tool's name before the first `-` selects its behaviour.
    fn call(&self, id: &Value, params: &Value) {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        self.calls.lock().unwrap().push(name.clone());
        let arguments = &params["arguments"];
        self.log(&json!({ "tool": name, "arguments": arguments }));
        let token = &params["_meta"]["progressToken"];
        match name.split('-').next().unwrap_or_default() {
            "echo" => text(id, &arguments.to_string()),
            "hang" => {}
            "die" => {
                eprintln!("dying in the middle of {name}");
                exit(4);
            }
            // Ends the first process.
            "fragile" if self.start_count() == 1 => exit(5),
            "fragile" => text(id, "survived"),
            "slow" => {
                let step = Duration::from_millis(arguments["ms"].as_u64().unwrap_or(100));
                for done in 1..=arguments["steps"].as_u64().unwrap_or(3) {
                    thread::sleep(step);
                    notify(
                        "notifications/progress",
                        json!({
                            "progressToken": token,
                            "progress": done,
                            "message": arguments["message"].as_str().unwrap_or("working"),
                        }),
                    );
                }
                text(id, "done");
            }
            // It is done when `arrive` is called, and has progress when `step` is called.
            "walk" => *self.walk.lock().unwrap() = (id.clone(), token.clone(), 0),
            "step" => {
                let mut walk = self.walk.lock().unwrap();
                walk.2 += 1;
                notify(
                    "notifications/progress",
                    json!({ "progressToken": walk.1, "progress": walk.2 }),
                );
                text(id, "stepped");
            }
            "arrive" => {
                text(&self.walk.lock().unwrap().0, "done");
                text(id, "arrived");
            }
            "flood" => {
                for count in 0..arguments["n"].as_u64().unwrap_or(10_000) {
                    notify("notifications/message", json!({ "level": "info", "data": count }));
                    notify(
                        "notifications/progress",
                        json!({
                            "progressToken": token, "progress": count, "message": "x".repeat(100),
                        }),
                    );
                    eprintln!("{}", "y".repeat(100));
                }
                text(id, "dry");
            }
            "change" => {
                let names = arguments["tools"].as_array().cloned().unwrap_or_default();
                let names = names.iter().filter_map(Value::as_str).map(str::to_owned);
                *self.tools.lock().unwrap() = names.collect();
                for _ in 0..arguments["times"].as_u64().unwrap_or(1) {
                    self.notify_client("notifications/tools/list_changed", json!({}));
                }
                text(id, "changed");
            }
            "garbage" => {
                print("this is not JSON");
                print("{\"jsonrpc\": \"2.0\", \"id\": 99999, \"result\": {}}");
                print("[1, 2]");
                text(id, "clean");
            }
            "twice" => {
                text(id, "first");
                text(id, "second");
            }
            // A given line, with `ID` replaced by the id.
            "raw" => {
                let line = arguments["line"].as_str().unwrap_or_default();
                print(&line.replace("ID", &id.to_string()));
            }
            "odd" => answer(
                id,
                json!({
                    "content": [{ "type": "text", "text": "a" }, { "type": "hologram", "x": 1 }],
                    "_meta": { "k": 1 },
                }),
            ),
            "empty" => answer(id, json!({})),
            "broken" => answer(id, json!({ "content": [{ "type": "text", "text": "no value" }] })),
            "reject" => reject(id, -32603, "the disk is full"),
            "huge" => {
                let length = arguments["bytes"].as_u64().unwrap_or(1 << 20);
                text(id, &"z".repeat(usize::try_from(length).unwrap()));
            }
            // Some servers report an unknown tool as text instead of an error.
            "gone" if name == "gone-text" => text(id, &format!("Unknown tool: {name}")),
            "gone" => reject(id, -32602, &format!("Unknown tool: {name}")),
            "ask" => self.ask(id, params, arguments["message"].as_str().unwrap_or("Sure?")),
            "received" => text(
                id,
                &json!({
                    "cancelled": self.cancelled.lock().unwrap().len(),
                    "calls": *self.calls.lock().unwrap(),
                })
                .to_string(),
            ),
            _ => reject(id, -32602, &format!("Unknown tool: {name}")),
        }
    }

    /// Appends a line atomically, since several processes write.
    fn log(&self, call: &Value) {
        let Some(file) = self.script["log"].as_str() else { return };
        let mut log = OpenOptions::new().append(true).create(true).open(file).expect("a file");
        log.write_all(format!("{call}\n").as_bytes()).expect("room for a line");
    }

    fn start_count(&self) -> usize {
        let file = self.script["starts"].as_str().expect("a file of starts");
        std::fs::read_to_string(file).map_or(0, |starts| starts.lines().count())
    }

    fn ask(&self, id: &Value, params: &Value, message: &str) {
        let form = json!({
            "mode": "form",
            "message": message,
            "requestedSchema": { "type": "object", "properties": { "ok": { "type": "boolean" } } },
        });
        if !self.is_stateless() {
            self.asking.lock().unwrap().push(id.clone());
            let question = format!("question-{id}");
            print(&json!({
                "jsonrpc": "2.0", "id": question, "method": "elicitation/create", "params": form,
            }).to_string());
            return;
        }
        match params["inputResponses"].get("sure") {
            Some(confirmation) if params["requestState"] == "state" => {
                text(id, &confirmation.to_string());
            }
            Some(_) => text(id, "the state is lost"),
            None => answer(
                id,
                json!({
                    "resultType": "input_required",
                    "inputRequests": { "sure": { "method": "elicitation/create", "params": form } },
                    "requestState": "state",
                }),
            ),
        }
    }

    /// Handles the answer to a question of this server.
    fn handle_answer(&self, message: &Value) {
        let question_id = message["id"].as_str().unwrap_or_default().to_owned();
        let mut asking = self.asking.lock().unwrap();
        let Some(at) = asking.iter().position(|id| format!("question-{id}") == question_id) else {
            return;
        };
        let id = asking.remove(at);
        let answer =
            if message["result"].is_null() { &message["error"] } else { &message["result"] };
        text(&id, &answer.to_string());
    }

    fn notify_client(&self, method: &str, mut params: Value) {
        if let Some(id) = &*self.listening.lock().unwrap() {
            params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
        }
        notify(method, params);
    }
}

/// A definition; its contents depend on the name, too.
fn tool(name: &str) -> Value {
    let mut tool = json!({
        "name": name,
        "description": format!("Does {name}."),
        "inputSchema": { "type": "object" },
    });
    let has = |part: &str| name.split('-').any(|own| own == part);
    if has("ro") {
        tool["annotations"] = json!({ "readOnlyHint": true });
    }
    if has("broken") {
        tool["outputSchema"] = json!({ "type": "object", "required": ["a"] });
    }
    if has("strict") {
        tool["inputSchema"] = json!({
            "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
        });
    }
    if has("marked") {
        tool["annotations"] = json!({ "readOnlyHint": true, "progressEnabled": true });
        tool["execution"] = json!({ "taskSupport": "optional" });
    }
    if has("nullable") {
        tool["inputSchema"] = json!({
            "type": "object",
            "properties": { "clear": { "type": ["string", "null"] }, "n": { "type": "integer" } },
        });
    }
    if has("noschema") {
        tool["inputSchema"] = Value::Null;
    }
    if has("deep") {
        let deep = (0..110).fold(json!({}), |deep, _| json!({ "items": deep }));
        tool["inputSchema"] = json!({ "type": "object", "properties": { "a": deep } });
    }
    if has("patterned") {
        tool["inputSchema"] = json!({
            "type": "object", "properties": { "a": { "type": "string", "pattern": "(?<" } },
        });
    }
    if has("remote") {
        tool["inputSchema"] = json!({
            "type": "object", "properties": { "a": { "$ref": "http://127.0.0.1:1/a.json" } },
        });
    }
    tool
}

fn text(id: &Value, text: &str) {
    answer(id, json!({ "content": [{ "type": "text", "text": text }] }));
}

fn answer(id: &Value, result: Value) {
    let mut result = result;
    if let Value::Object(members) = &mut result {
        members.entry("resultType").or_insert("complete".into());
    }
    print(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
}

fn reject(id: &Value, code: i64, message: &str) {
    let error = json!({ "code": code, "message": message });
    print(&json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
}

fn notify(method: &str, params: Value) {
    let mut message = Map::new();
    message.insert("jsonrpc".to_owned(), "2.0".into());
    message.insert("method".to_owned(), method.into());
    message.insert("params".to_owned(), params);
    print(&Value::Object(message).to_string());
}

/// Writes a whole line at once, since several threads write.
fn print(line: &str) {
    let mut stdout = std::io::stdout().lock();
    // The reader has closed its end.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}
