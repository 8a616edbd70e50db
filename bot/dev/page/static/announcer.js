// What a screen reader says of the messages that come in: each once, when it is whole. The lists
// themselves are silent, as an answer that is being written would be read again with each word.
import { byId, parse } from "./dom.js";

const QUIET = 1000; // ms without a change, after which a message counts as whole
const MOST = 1200; // characters
const timers = new Map();
const said = new Map(); // message → its text when it was told

export function say(text) {
  const line = document.createElement("p");
  line.textContent = text;
  byId("announcer").append(line);
  setTimeout(() => line.remove(), 10000);
}

export function messageCame({ dataset: { ts }, parentElement: list }) {
  clearTimeout(timers.get(ts));
  timers.set(ts, setTimeout(() => tell(ts, list), QUIET));
}

function tell(ts, list) {
  const message = list.querySelector(`:scope > [data-ts="${CSS.escape(ts)}"]`);
  timers.delete(ts);
  if (!message?.isConnected || message.dataset.author === document.body.dataset.user) return;
  if (isBeingWritten(message)) return messageCame(message);
  const files = [...message.querySelectorAll(".file-name")].map((file) => `File: ${file.title}.`);
  const text = [spoken(message.querySelector("[data-content]")), ...files].join("\n").trim();
  if (said.get(ts) === text) return;
  said.set(ts, text);
  const cut = text.length > MOST ? `${text.slice(0, MOST)} … The rest is in the message.` : text;
  say(`${message.querySelector(".author")?.textContent ?? ""}: ${cut}`);
}

// A table is told of, and read by who goes to it.
function spoken(element) {
  if (element.matches(".scroll")) return `Table with ${element.querySelectorAll("tbody tr").length} rows.`;
  if (!element.querySelector(".scroll")) return element.innerText;
  return [...element.children].map(spoken).join("\n");
}

const isBeingWritten = (message) =>
  message.matches(".streaming") || message.closest(".pane, .thread").querySelector(".foot .stop") !== null;

const working = new Set(); // threads in which the agent is known to work

// The words of a status take turns; that it works and that it is done is said once.
export function statusCame({ channel, thread, html }) {
  const key = `${channel}:${thread}`;
  if (!html) return working.delete(key) && !byId("replies") && say("The agent is done; its answer is in the thread.");
  if (working.has(key)) return;
  working.add(key);
  say(parse(html).querySelector(".status-text")?.textContent ?? "");
}
