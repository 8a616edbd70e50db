// The page: what is shown, where clicks lead, and what arrives live.
import { Composer } from "./composer.js";
import { arrange, atBottom, icon, localise, parse, toBottom, upsert } from "./dom.js";
import { label, prepareFields, valueOf } from "./fields.js";
import { Live } from "./live.js";
import { closeMenu, menuContext, toggleMenu } from "./menus.js";
import { closeModal, confirmed, showModals } from "./modals.js";
import { act, fragment, say, user } from "./server.js";
import { prepareTables, sortBy, turnPage } from "./tables.js";
import { toast } from "./toast.js";

const byId = (id) => document.getElementById(id);
const [app, sidebar, pane, thread] = ["app", "sidebar", "pane", "thread"].map(byId);
const unread = new Map();
const asked = new Set(); // own questions whose thread opens by itself when the answer begins
let shown = { channel: "", thread: "", tab: "messages" };
let settled = Promise.resolve(); // live changes wait for a navigation to finish

// ---- showing things

function present(root) {
  localise(root);
  prepareFields(root, shown.channel);
  prepareTables(root);
  for (const list of root.querySelectorAll("[data-messages]")) arrange(list);
  for (const form of root.querySelectorAll("form.composer")) new Composer(form, sent);
}

function at() {
  return { user: user(), channel: shown.channel, thread: shown.thread, tab: shown.tab };
}

function go(changes, options) {
  settled = settled.then(() => navigate(changes, options));
  return settled;
}

async function navigate(changes, { push = true, focus = true } = {}) {
  const before = shown;
  shown = { ...shown, ...changes };
  live.watch(shown);
  const samePlace = before.channel === shown.channel && before.tab === shown.tab && !("user" in changes);
  if (!samePlace) await showPane();
  if (!samePlace || before.thread !== shown.thread) await showThread({ focus });
  if (push) history.pushState(shown, "", address());
}

function address() {
  const query = { user: user(), channel: shown.channel };
  if (shown.thread) query.thread = shown.thread;
  if (shown.tab === "home") query.tab = "home";
  return `/?${new URLSearchParams(query)}`;
}

async function showPane() {
  const html = await fragment("pane", at());
  if (html === null) return;
  pane.replaceChildren(parse(html));
  present(pane);
  markSidebar();
  app.classList.remove("side-open");
  if (byId("messages")) toBottom(byId("messages"));
  document.title = `${pane.querySelector("[data-title]").dataset.title} · Local workspace`;
  if (innerWidth > 760) pane.querySelector("textarea")?.focus();
}

async function showThread({ focus = true } = {}) {
  if (!shown.thread) {
    thread.hidden = true;
    thread.replaceChildren();
    return;
  }
  const html = await fragment("thread", at());
  if (html === null) return;
  thread.replaceChildren(parse(html));
  thread.hidden = false;
  present(thread);
  toBottom(byId("replies"));
  if (focus) thread.querySelector("textarea")?.focus();
}

function markSidebar() {
  unread.delete(shown.channel);
  for (const link of sidebar.querySelectorAll("[data-channel-link]")) {
    const id = link.dataset.channelLink;
    const current = id === shown.channel;
    link.classList.toggle("current", current);
    current ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
    link.classList.toggle("has-unread", unread.has(id));
    link.querySelector(".unread").hidden = !unread.has(id);
  }
}

async function actAs(id) {
  document.body.dataset.user = id;
  unread.clear();
  await go({ user: id, thread: "" });
  const html = await fragment("sidebar", at());
  if (html !== null) sidebar.replaceChildren(parse(html));
  const landed = pane.querySelector("[data-list]")?.dataset.list;
  if (landed && landed !== shown.channel) shown = { ...shown, channel: landed, tab: "messages" };
  delete shown.user;
  history.replaceState(shown, "", address());
  live.connect(id);
  markSidebar();
  byId("act-as")?.focus();
}

async function refreshAll() {
  const drafting = document.activeElement?.closest("form.composer")?.dataset.composer;
  await showPane();
  await showThread({ focus: drafting === "thread" });
  showModals((await fragment("modals", at())) ?? "", shown.channel);
}

// ---- what arrives live

const operations = {
  message(op) {
    if (op.channel !== shown.channel) return;
    if (op.in_channel && shown.tab !== "home") put(byId("messages"), op.in_channel, op.author);
    if (op.in_thread && op.thread === shown.thread) put(byId("replies"), op.in_thread, op.author);
    if (op.in_thread && op.ts === shown.thread) put(byId("replies"), op.in_thread, op.author);
    if (op.thread && op.thread !== op.ts) openAsked(op.thread);
  },
  remove(op) {
    for (const message of document.querySelectorAll(`.msg[data-channel="${op.channel}"][data-ts="${op.ts}"]`)) {
      const list = message.parentElement;
      message.remove();
      arrange(list);
    }
    if (op.channel === shown.channel && op.ts === shown.thread) go({ thread: "" });
  },
  status(op) {
    for (const line of document.querySelectorAll(`[data-status="${op.channel}:${op.thread}"]`)) {
      const scroller = line.closest(".msg") && line.closest(".scroller");
      const stick = scroller && atBottom(scroller);
      line.replaceChildren(parse("inline" in line.dataset ? op.inline : op.html));
      if (stick) toBottom(scroller);
    }
    if (op.html) openAsked(op.thread);
  },
  prompts(op) {
    for (const box of document.querySelectorAll(`[data-prompts="${op.channel}:${op.thread}"]`)) box.replaceChildren(parse(op.html));
  },
  modals: (op) => showModals(op.html, shown.channel),
  home(op) {
    const home = byId("home");
    if (!home) return;
    home.replaceChildren(parse(op.html));
    present(home);
  },
  sidebar(op) {
    sidebar.replaceChildren(parse(op.html));
    markSidebar();
  },
  unread(op) {
    unread.set(op.channel, true);
    markSidebar();
  },
};

function put(scroller, html, author) {
  if (!scroller) return;
  const stick = atBottom(scroller) || author === user();
  const { element, isNew } = upsert(scroller.querySelector("[data-messages]"), html);
  prepareFields(element, shown.channel);
  prepareTables(element);
  if (stick) reveal(scroller, element);
  else if (isNew) offerNew(scroller);
}

// The newest message whole, or from its beginning when it is taller than the window.
function reveal(scroller, element) {
  const tall = element.offsetHeight > scroller.clientHeight - 24;
  if (!tall || element.nextElementSibling) return toBottom(scroller);
  scroller.scrollTop += element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 8;
}

function offerNew(scroller) {
  if (scroller.querySelector(".new-below")) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chip new-below";
  button.textContent = "New messages ↓";
  button.addEventListener("click", () => toBottom(scroller));
  scroller.addEventListener("scroll", () => atBottom(scroller) && button.remove());
  scroller.append(button);
}

function openAsked(ts) {
  if (!ts || !asked.has(ts)) return;
  asked.delete(ts);
  if (!shown.thread && innerWidth > 1100) go({ thread: ts }, { focus: false });
}

function sent(composer, answer, text) {
  if (answer.ts && !composer.thread && (text.includes("@") || shown.channel.startsWith("D"))) asked.add(answer.ts);
}

const live = new Live(
  (list) => { settled = settled.then(() => list.forEach((op) => operations[op.op]?.(op))); },
  () => { settled = settled.then(refreshAll); },
);

// ---- what the person does

const messageOf = (element) => element.closest(".msg");
const where = (message) => ({ channel: message.dataset.channel, ts: message.dataset.ts });
const composerOf = (element) => element.closest(".foot, .pane")?.querySelector("form.composer")?.composer;

const clicks = {
  open: (link) => go({ channel: link.dataset.channelLink, thread: "", tab: "messages" }),
  tab(button) {
    go({ tab: button.dataset.tab, thread: "" });
    act("home", { tab: button.dataset.tab });
  },
  sidebar: () => app.classList.toggle("side-open"),
  "dismiss-notice": (button) => button.closest(".notice").remove(),
  thread: (button) => go({ thread: messageOf(button).dataset.ts }),
  "thread-of": (button) => go({ thread: button.dataset.thread }),
  "close-thread": () => closeThread(),
  permalink(link) {
    const query = new URLSearchParams(link.getAttribute("href"));
    if (query.get("thread")) go({ thread: query.get("thread") });
    flash(query.get("ts"));
  },
  react: (button) => act("react", { ...where(messageOf(button)), name: button.dataset.name }),
  dismiss: (button) => { const list = messageOf(button).parentElement; messageOf(button).remove(); arrange(list); },
  menu: (button) => toggleMenu(button, button.nextElementSibling),
  "message-menu"(button) {
    const menu = byId("message-menu");
    for (const item of menu.querySelectorAll("[data-own-only]")) item.hidden = button.dataset.own !== "true";
    toggleMenu(button, menu, { message: messageOf(button) });
  },
  "global-menu": (button) => toggleMenu(button, byId("global-menu")),
  async "copy-link"(_, { message }) {
    const link = new URL(message.querySelector(".when").getAttribute("href"), location.origin);
    await navigator.clipboard.writeText(link.href);
    toast("Link copied");
  },
  edit: (_, { message }) => startEdit(message),
  async delete(_, { message }) {
    const sure = await confirmed({ title: "Delete this message?", text: message.querySelector("[data-content]").innerText.slice(0, 200), confirm: "Delete", style: "danger" });
    if (sure) act("delete", where(message));
  },
  shortcut: (button, context) => act("shortcut", { callback_id: button.dataset.callback, ...(context?.message ? where(context.message) : {}) }),
  click: (button) => press(button),
  sort: sortBy,
  page: turnPage,
  stop: (button) => { button.disabled = true; act("stop", { channel: button.dataset.channel, thread_ts: button.dataset.thread }); },
  prompt: (chip) => say({ channel: shown.channel, text: chip.dataset.text, thread: chip.closest("[data-prompts]").dataset.prompts.split(":")[1] }).then((answer) => answer?.ts && asked.add(answer.ts)),
  mention: (button) => composerOf(button).insert("@"),
  async sample(button) { composerOf(button).attach([await sample(button.dataset.sample)]); composerOf(button).text.focus(); },
  async example(button) {
    const mention = shown.channel.startsWith("D") ? "" : `@${document.body.dataset.botName} `;
    const files = button.dataset.sample ? [await sample(button.dataset.sample)] : [];
    composerOf(button).fill(mention + button.dataset.text, files);
  },
  "close-modal": (button) => closeModal(button.closest("dialog")),
};

async function sample(name) {
  const answer = await fetch(`/page/static/samples/${name}`);
  return new File([await answer.blob()], name, { type: "text/csv" });
}

async function press(button) {
  if (button.ariaBusy === "true") return;
  if (button.dataset.confirm && !(await confirmed(JSON.parse(button.dataset.confirm)))) return;
  if ("feedback" in button.dataset) {
    for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button));
  }
  button.ariaBusy = "true";
  await dispatch(button, button.dataset.value || null);
  button.removeAttribute("aria-busy");
}

function dispatch(field, value) {
  const details = { action_id: field.dataset.actionId, block_id: field.dataset.blockId, value };
  const view = field.closest("[data-view-id]");
  const message = messageOf(field);
  return act("click", view ? { ...details, view_id: view.dataset.viewId } : { ...details, ...where(message) });
}

async function changed(field) {
  if (!("dispatch" in field.dataset)) return;
  if (field.dataset.confirm && !(await confirmed(JSON.parse(field.dataset.confirm)))) return;
  const value = valueOf(field);
  if (value !== null) dispatch(field, value);
}

function startEdit(message) {
  const content = message.querySelector("[data-content]");
  const old = [...content.childNodes];
  const box = parse(`<form class="edit-box"><textarea class="control" aria-label="Edit message"></textarea><div class="row"><button type="button" class="btn">Cancel</button><button type="submit" class="btn primary">Save</button></div></form>`).firstElementChild;
  const text = box.querySelector("textarea");
  text.value = (content.querySelector(".text")?.innerText ?? "").replace(/\s*\(edited\)$/, "");
  const stop = () => { box.replaceWith(...old); message.focus(); };
  box.querySelector("[type=button]").addEventListener("click", stop);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); stop(); }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target === text) { event.preventDefault(); box.requestSubmit(); }
  });
  box.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await act("edit", { ...where(message), text: text.value });
    if (answer && box.isConnected) stop();
  });
  content.replaceChildren(box);
  text.focus();
}

function closeThread() {
  const ts = shown.thread;
  go({ thread: "" }).then(() => pane.querySelector(`.msg[data-ts="${ts}"]`)?.focus({ preventScroll: true }));
}

function flash(ts) {
  const messages = [...document.querySelectorAll(`.msg[data-ts="${CSS.escape(ts)}"]`)];
  for (const message of messages) {
    message.classList.add("flash");
    message.addEventListener("animationend", () => message.classList.remove("flash"), { once: true });
    message.scrollIntoView({ block: "center" });
  }
}

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-do]");
  if (!target || !clicks[target.dataset.do]) return;
  if (target.tagName === "A" && (event.metaKey || event.ctrlKey || event.shiftKey)) return;
  if (target.tagName === "A" && !target.target) event.preventDefault();
  const context = menuContext();
  if (target.role === "menuitem") closeMenu();
  clicks[target.dataset.do](target, context);
});

document.addEventListener("change", (event) => {
  if (event.target.id === "act-as") return actAs(event.target.value);
  const multi = event.target.closest("details.multi");
  if (multi) label(multi);
  const field = event.target.closest("[data-action-id]");
  if (field) changed(field);
});

document.addEventListener("keydown", (event) => {
  const message = event.target.classList?.contains("msg") ? event.target : null;
  const tools = event.target.closest?.(".toolbar");
  if (message) return inMessage(event, message);
  if (tools) return inToolbar(event, tools);
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  if (app.classList.contains("side-open")) app.classList.remove("side-open");
  else if (shown.thread) closeThread();
});

function inMessage(event, message) {
  const all = [...message.parentElement.querySelectorAll(":scope > .msg")];
  const near = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (near) all[all.indexOf(message) + near]?.focus();
  else if (event.key === "ArrowRight" || event.key === "Enter") message.querySelector(".toolbar button")?.focus();
  else if (event.key === "Escape" && shown.thread) closeThread();
  else return;
  event.preventDefault();
}

function inToolbar(event, tools) {
  const buttons = [...tools.querySelectorAll("button")];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) buttons.at((buttons.indexOf(event.target) + step) % buttons.length).focus();
  else if (event.key === "Escape") tools.closest(".msg").focus();
  else return;
  event.preventDefault();
}

addEventListener("popstate", (event) => event.state && go({ ...event.state }, { push: false }));

// An image that arrives late must not push the newest message out of sight.
document.addEventListener("load", (event) => {
  const scroller = event.target.closest?.(".scroller");
  if (!scroller || event.target.tagName !== "IMG") return;
  const away = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
  if (away < event.target.height + 80) toBottom(scroller);
}, true);

// Loading messages take turns, as Slack's do.
setInterval(() => {
  for (const words of document.querySelectorAll("[data-rotate]")) {
    const all = JSON.parse(words.dataset.rotate);
    if (all.length > 1) words.textContent = all[(all.indexOf(words.textContent) + 1) % all.length];
  }
}, 2500);

// ---- start

const query = new URLSearchParams(location.search);
const home = byId("home") !== null;
const list = byId("messages");
shown = {
  channel: list?.dataset.list ?? query.get("channel") ?? "",
  thread: thread.querySelector("[data-thread]")?.dataset.thread ?? "",
  tab: home ? "home" : "messages",
};
present(document);
history.replaceState(shown, "", query.get("ts") ? location.href : address());
live.showing = shown;
live.connect(user());
showModals(byId("modals").innerHTML, shown.channel);
byId("modals").remove();
document.querySelectorAll("#messages, #replies").forEach(toBottom);
if (query.get("ts")) flash(query.get("ts"));
else if (innerWidth > 760) (thread.querySelector("textarea") ?? pane.querySelector("textarea"))?.focus();
