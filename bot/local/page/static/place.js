// Where the person is, and how that is shown: sidebar, pane and thread panel.
import { Composer } from "./composer.js";
import { arrange, byId, enlarge, keeper, localise, parse, toBottom, typesAtOnce } from "./dom.js";
import { prepareFields } from "./fields.js";
import { fold } from "./folding.js";
import { showModals } from "./modals.js";
import { offerNewest } from "./newest.js";
import { fragment, user } from "./server.js";
import { prepareTables } from "./tables.js";
import { clearToasts, toast } from "./toast.js";

export const [app, sidebar, pane, thread] = ["app", "sidebar", "pane", "thread"].map(byId);

export const place = {
  shown: { channel: "", thread: "", tab: "messages" },
  settled: Promise.resolve(), // live changes wait for a navigation to finish
  asked: new Set(), // own questions whose thread opens by itself when the answer begins
  awaited: new Set(), // ids of the lists in which the next message answers a press of one's own
  asking: "", // id of the list whose message's shortcut has opened a modal
  live: null,
};

export function present(root) {
  localise(root);
  enlarge(root);
  prepareFields(root, place.shown.channel);
  prepareTables(root);
  for (const list of root.querySelectorAll("[data-messages]")) arrange(list);
  fold(root);
  for (const scroller of root.querySelectorAll(".scroller")) keeper.observe(scroller);
  for (const form of root.querySelectorAll("form.composer")) new Composer(form, sent);
}

function at() {
  return { user: user(), channel: place.shown.channel, thread: place.shown.thread, tab: place.shown.tab };
}

export function go(changes, options) {
  place.settled = place.settled.then(() => navigate(changes, options));
  return place.settled;
}

async function navigate(changes, { push = true, focus = true } = {}) {
  const before = place.shown;
  place.shown = { ...place.shown, ...changes };
  place.awaited.clear();
  place.live.watch(place.shown);
  const samePlace = before.channel === place.shown.channel && before.tab === place.shown.tab && !("user" in changes);
  if (!samePlace) {
    clearToasts();
    if (!(await showPane())) return stay(before);
  }
  if (!samePlace || before.thread !== place.shown.thread) await showThread({ focus });
  if (push) history.pushState(place.shown, "", address());
}

// The place could not be fetched, and the one on the screen is still the one that is shown.
function stay(before) {
  place.shown = before;
  place.live.watch(before);
}

export function address() {
  const query = { user: user(), channel: place.shown.channel };
  if (place.shown.thread) query.thread = place.shown.thread;
  if (place.shown.tab !== "messages") query.tab = place.shown.tab;
  return `/?${new URLSearchParams(query)}`;
}

async function showPane() {
  const html = await fragment("pane", at());
  if (html === null) return false;
  pane.replaceChildren(parse(html));
  landIn(pane.querySelector("[data-list]")?.dataset.list);
  const list = pane.querySelector("[data-messages]");
  present(pane);
  markSidebar();
  showSidebar(false);
  if (list) showNewest(byId("messages"));
  if (typesAtOnce()) pane.querySelector("textarea")?.focus();
  return true;
}

// Who is not in a channel, or not any more, is shown another.
function landIn(channel) {
  if (!channel || channel === place.shown.channel) return;
  place.shown = { ...place.shown, channel, tab: "messages", thread: "" };
  place.live.watch(place.shown);
}

// The newest message, or the first that was not seen, whichever is higher up.
function showNewest(scroller) {
  toBottom(scroller);
  const line = scroller.querySelector(".new-line");
  if (line && line.getBoundingClientRect().top < scroller.getBoundingClientRect().top) {
    line.scrollIntoView();
    offerNewest(scroller);
  }
}

async function showThread({ focus = true } = {}) {
  if (!place.shown.thread) {
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
  if (focus) (typesAtOnce() ? thread.querySelector("textarea") : byId("replies"))?.focus();
}

// On a phone it lies over the rest, which can not be reached meanwhile.
export function showSidebar(open) {
  if (open === app.classList.contains("side-open")) return;
  app.classList.toggle("side-open", open);
  pane.inert = thread.inert = open;
  (open ? sidebar.querySelector("[aria-current]") : pane.querySelector(".burger"))?.focus();
}

export function markSidebar() {
  const isThreads = place.shown.tab === "threads";
  for (const link of sidebar.querySelectorAll(".side-link")) {
    const current = isThreads ? link.dataset.do === "threads" : link.dataset.channelLink === place.shown.channel;
    link.classList.toggle("current", current);
    current ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  document.title = `${waiting()}${pane.querySelector("[data-title]").dataset.title} · Local workspace`;
}

// What is new elsewhere, for the title of the tab.
function waiting() {
  const calls = [...sidebar.querySelectorAll("[data-calls]")].reduce((sum, { dataset }) => sum + Number(dataset.calls), 0);
  return calls ? `(${calls}) ` : sidebar.querySelector(".has-unread") ? "• " : "";
}

// The thread stays open where this person may read it too.
export async function actAs(id) {
  document.body.dataset.user = id;
  await go({ user: id }, { focus: false });
  const html = await fragment("sidebar", at());
  if (html !== null) sidebar.replaceChildren(parse(html));
  delete place.shown.user;
  history.replaceState(place.shown, "", address());
  place.live.connect(id);
  markSidebar();
  byId("act-as")?.focus();
}

export async function refreshAll() {
  const drafting = document.activeElement?.closest("form.composer")?.dataset.composer;
  await showPane();
  history.replaceState(place.shown, "", address());
  await showThread({ focus: drafting === "thread" });
  showModals((await fragment("modals", at())) ?? "", place.shown.channel);
}

export function closeThread() {
  const ts = place.shown.thread;
  go({ thread: "" }).then(() => pane.querySelector(`.msg[data-ts="${ts}"]`)?.focus({ preventScroll: true }));
}

// → { channel, thread, ts } of a link to a message of this workspace, or null.
export function messageAt(href) {
  const { port, pathname, searchParams } = new URL(href);
  const found = port === location.port && /^\/archives\/(\w+)\/p(\d{10})(\d{6})$/.exec(pathname);
  return found ? { channel: found[1], thread: searchParams.get("thread_ts") ?? "", ts: `${found[2]}.${found[3]}` } : null;
}

export async function openMessage({ channel, thread, ts }) {
  if (!sidebar.querySelector(`[data-channel-link="${CSS.escape(channel)}"]`)) return toast("You are not in this conversation.", { error: true });
  showSidebar(false);
  const elsewhere = channel !== place.shown.channel || place.shown.tab !== "messages";
  await go({ channel, tab: "messages", ...(thread || elsewhere ? { thread } : {}) });
  flash(ts);
}

export function flash(ts) {
  const messages = [...document.querySelectorAll(`.msg[data-ts="${CSS.escape(ts)}"]`)];
  for (const message of messages) {
    message.classList.add("flash");
    message.addEventListener("animationend", () => message.classList.remove("flash"), { once: true });
    message.scrollIntoView({ block: "center" });
  }
}

function sent(composer, answer, text) {
  if (answer.ts && !composer.thread && (text.includes("@") || place.shown.channel.startsWith("D"))) place.asked.add(answer.ts);
}
