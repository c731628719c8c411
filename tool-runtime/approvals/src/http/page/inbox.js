// The inbox. All that comes from a call is set as text, never as HTML.
"use strict";

const INTERVAL = 2000;
const TOKEN = "inbox-token";
// Clicks soon after the page has moved are not meant for what is below the pointer now.
const SETTLING = 1000;
const MAX_LINES = 2000;
const byId = (id) => document.getElementById(id);
const shown = new Map();
let generation = 0;
let movedAt = 0;

// Characters that are invisible or change the direction of text, and controls but line breaks and tabs.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
// More marks over a letter than any language has.
const MARKS = /(\p{M}{4})(\p{M}+)/gu;
const escaped = (one) => `\\u{${one.codePointAt(0).toString(16)}}`;
const visible = (text) =>
  String(text ?? "").replace(HIDDEN, escaped).replace(MARKS, (_, some, more) => some + [...more].map(escaped).join(""));
const line = (text, limit) => {
  const one = String(text ?? "").replace(/\s+/g, " ").trim();
  return visible(one.length > limit ? one.slice(0, limit) + " (cut)" : one);
};

// JSON with line breaks. Its tokens stay as they are: what is shown is what runs.
function spaced(json) {
  let [result, depth, isText] = ["", 0, false];
  const newLine = () => "\n" + "  ".repeat(Math.min(depth, 40));
  for (let index = 0; index < json.length; index += 1) {
    const one = json[index];
    if (isText) {
      result += one;
      if (one === "\\") result += json[(index += 1)] ?? "";
      else if (one === '"') isText = false;
    } else if (one === '"') {
      isText = true;
      result += one;
    } else if ("{[".includes(one)) {
      depth += 1;
      result += one + newLine();
    } else if ("}]".includes(one)) {
      depth = Math.max(0, depth - 1);
      result += newLine() + one;
    } else if (one === ",") result += one + newLine();
    else if (one === ":") result += ": ";
    else if (!" \n\r\t".includes(one)) result += one;
  }
  return result;
}

// The lines of a text, with the number of those that are left out.
function lines(text) {
  const all = visible(text).split("\n");
  const rest = all.length - MAX_LINES;
  return rest > 0 ? `${all.slice(0, MAX_LINES).join("\n")}\n(${rest} more lines are not shown)` : all.join("\n");
}

async function request(path, body) {
  const options = { headers: { authorization: `Bearer ${sessionStorage.getItem(TOKEN)}` }, cache: "no-store" };
  if (body) Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  const response = await fetch(path, options);
  if (response.ok) return response.status === 204 ? null : response.json();
  const text = await response.text().catch(() => "");
  let problem = text;
  try {
    problem = JSON.parse(text).error ?? text;
  } catch {
    // It is text.
  }
  throw Object.assign(new Error(`${response.status}: ${line(problem, 1000)}`), { status: response.status });
}

function minutes(question) {
  const left = Math.max(0, question.expires_at - Date.now());
  return left > 90000 ? `${Math.ceil(left / 60000)} minutes` : `${Math.ceil(left / 1000)} seconds`;
}

function approvers(question) {
  const others = question.approvers?.others;
  if (others === "anyone" || others === undefined) return "everyone with the scope";
  return typeof others === "string" ? others : Object.values(others).flat().join(", ");
}

// The question is over. It stays where it is until the person dismisses it: nothing moves below the pointer.
function end(id, text) {
  const article = shown.get(id);
  if (!article || article.classList.contains("ended")) return;
  article.classList.add("ended");
  article.querySelector(".outcome").textContent = text;
  for (const part of article.querySelectorAll("button, input")) part.disabled = true;
  const dismiss = article.querySelector(".dismiss");
  dismiss.hidden = false;
  dismiss.disabled = false;
}

async function add(question, remembers, mine) {
  const whole = question.is_cut ? await request(`approvals/${encodeURIComponent(question.id)}`) : question;
  if (mine !== generation || shown.has(question.id)) return;
  const article = byId("question").content.firstElementChild.cloneNode(true);
  const part = (name) => article.querySelector(name);
  const set = (name, text) => {
    const place = part(name);
    place.textContent = text;
    place.hidden = !text;
    if (place.previousElementSibling?.tagName === "DT") place.previousElementSibling.hidden = !text;
  };
  set("h2", line(whole.question, 2000));
  set(".tool", line(whole.tool, 300));
  set(".caller", line(whole.caller || "anonymous", 300));
  set(".rule", line(whole.rule, 300));
  set(".risk", whole.risk === "UNKNOWN" ? "" : line(whole.risk, 100));
  set(".summary", line(whole.summary, 1000));
  set(".approvers", line(approvers(whole), 1000));
  part(".visual").textContent = lines(whole.visual);
  part(".arguments").textContent = lines(spaced(whole.arguments));
  part(".session").hidden = !(remembers && whole.has_session);
  const answer = async (event, is_approved) => {
    // The second click of two, or one that was meant for what has moved.
    if (event.detail > 1 || Date.now() - movedAt < SETTLING) return;
    const buttons = article.querySelectorAll(".approve, .deny");
    buttons.forEach((button) => (button.disabled = true));
    const body = { is_approved };
    const reason = part(".reason").value.trim();
    if (!is_approved && reason) body.reason = reason;
    if (is_approved && part(".session input").checked) body.remember = "session";
    try {
      await request(`approvals/${encodeURIComponent(question.id)}`, body);
      part(".error").textContent = "";
      end(question.id, is_approved ? "Approved" : "Denied");
      refresh();
    } catch (error) {
      part(".error").textContent = error.message;
      buttons.forEach((button) => (button.disabled = false));
    }
  };
  part(".approve").addEventListener("click", (event) => answer(event, true));
  part(".deny").addEventListener("click", (event) => answer(event, false));
  part(".dismiss").addEventListener("click", () => {
    movedAt = Date.now();
    article.hidden = true;
  });
  part("form").addEventListener("submit", (event) => event.preventDefault());
  // New ones come below.
  byId("questions").append(article);
  shown.set(question.id, article);
  update(question);
}

// Whether nothing runs by an answer.
function isLost(question) {
  return question.is_abandoned && !question.is_repeatable;
}

// What changes of a question that is open.
function update(question) {
  const article = shown.get(question.id);
  article.querySelector(".left").textContent = minutes(question);
  if (article.classList.contains("ended")) return;
  if (isLost(question)) return end(question.id, "Its call is gone: its process has ended; nothing runs");
  const effect = question.is_abandoned ? "Its call is gone, and the answer counts when the run is repeated" : "";
  article.querySelector(".outcome").textContent = effect;
}

async function refresh() {
  const mine = (generation += 1);
  try {
    const { approvals, unlisted, remembers } = await request("approvals");
    if (mine !== generation) return;
    const open = new Set(approvals.map((question) => question.id));
    // With more than are listed, one may be open and not listed.
    if (!unlisted) for (const id of shown.keys()) if (!open.has(id)) end(id, "No longer open");
    for (const question of approvals) {
      if (shown.has(question.id)) update(question);
      else await add(question, remembers, mine);
      if (mine !== generation) return;
    }
    const more = unlisted ? `, and ${unlisted} more` : "";
    const count = approvals.filter((question) => !isLost(question)).length;
    byId("state").textContent = count ? `${count} open${more}` : "No open questions";
    document.title = count ? `(${count}) Inbox` : "Inbox";
    enter(true);
  } catch (error) {
    if (mine !== generation) return;
    byId("state").textContent = error.message;
    if (error.status === 401 || error.status === 403) return leave(error.message);
  }
  setTimeout(() => mine === generation && refresh(), INTERVAL);
}

function enter(isIn) {
  byId("login").hidden = isIn;
  byId("leave").hidden = !isIn;
}

function leave(text) {
  generation += 1;
  movedAt = Date.now();
  sessionStorage.removeItem(TOKEN);
  shown.forEach((article) => article.remove());
  shown.clear();
  byId("state").textContent = text;
  document.title = "Inbox";
  enter(false);
}

byId("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN, byId("token").value.trim());
  byId("token").value = "";
  refresh();
});
byId("leave").addEventListener("click", () => leave("The token is forgotten"));
if (sessionStorage.getItem(TOKEN)) refresh();
