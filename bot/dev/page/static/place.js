// Where the person is, and how that is shown: sidebar, pane and thread panel.
import { Composer } from "./composer.js";
import { arrange, atBottom, byId, byTouch, enlarge, hasRoomForBoth, keeper, localise, parse, toBottom, toEnd, typesAtOnce } from "./dom.js";
import { prepareFields } from "./fields.js";
import { fold } from "./folding.js";
import { morphChildren } from "./morph.js";
import { offerNewest } from "./newest.js";
import { act, drawn, fragment, user } from "./server.js";
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
  for (const form of root.querySelectorAll("form.composer")) form.composer ?? new Composer(form, sent);
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
  drawn.changes = Infinity;
  place.live.watch(place.shown, true);
  const samePlace = before.channel === place.shown.channel && before.tab === place.shown.tab && !("user" in changes);
  if (!samePlace) {
    clearToasts();
    markSidebar(); // at once, however slow the rest is
    if (!(await showPane())) return stay(before);
  }
  if (!samePlace || before.thread !== place.shown.thread) await showThread({ focus });
  else if (focus && place.shown.thread) focusThread();
  if (push && address() !== location.pathname + location.search) history.pushState(place.shown, "", address());
  else history.replaceState(place.shown, "", address());
}

// The place could not be fetched, and the one on the screen is still the one that is shown.
function stay(before) {
  place.shown = before;
  place.live.watch(before);
  markSidebar();
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
  const fresh = parse(html);
  landIn(fresh.querySelector("[data-place]").dataset);
  if (isOf(pane, fresh)) renew(pane, fresh);
  else enter(fresh);
  markSidebar();
  return true;
}

function enter(fresh) {
  pane.replaceChildren(fresh);
  present(pane);
  showSidebar(false);
  const list = byId("messages");
  if (list) showNewest(list);
  if (typesAtOnce()) pane.querySelector("textarea")?.focus();
}

// Who is not in a channel, or not any more, is shown another.
function landIn({ place: channel, tab }) {
  if (channel === place.shown.channel) return;
  place.shown = { ...place.shown, channel, tab, thread: "" };
  place.live.watch(place.shown);
}

// Whether what came is of the place that `root` shows, for the same person.
function isOf(root, fresh) {
  const [shown, news] = [root, fresh].map((each) => each.querySelector("[data-place]")?.dataset);
  return shown !== undefined && ["place", "tab", "of"].every((name) => shown[name] === news[name]);
}

// Changed only where it differs: what one reads, writes, selected or opened stays as it is.
function renew(root, fresh) {
  const list = root.querySelector("[data-messages]");
  const scroller = list?.parentElement;
  const [stuck, newest] = list ? [atBottom(scroller), newestIn(list)] : [];
  const focused = root.contains(document.activeElement);
  morphChildren(root, fresh);
  present(root);
  if (stuck) newest === newestIn(list) ? toBottom(scroller) : showNewest(scroller);
  else if (list && newest !== newestIn(list)) offerNewest(scroller);
  if (focused && !root.contains(document.activeElement)) root.focus();
}

const newestIn = (list) => [...list.querySelectorAll(":scope > .msg")].at(-1)?.dataset.ts;

// The newest message, or the first that came since one left, whichever is higher up.
export function showNewest(scroller) {
  const first = firstUnseen(scroller);
  if (!first) toBottom(scroller);
  else if (toEnd(scroller, first) && first.nextElementSibling) offerNewest(scroller);
}

// What came to a thread since one went on from it; its newest reply where one was not there yet.
function firstUnseen(scroller) {
  const { thread: ts } = scroller.dataset;
  const replies = ts ? [...scroller.querySelectorAll(".msg")] : [];
  return left.has(ts) ? replies.find(({ dataset }) => dataset.ts > left.get(ts)) : replies.at(-1);
}

const left = new Map(); // thread → ts of its newest reply when one went on from it

async function showThread({ focus = true } = {}) {
  if (byId("replies")) left.set(byId("replies").dataset.thread, newestIn(thread.querySelector("[data-messages]")));
  if (!place.shown.thread) {
    thread.hidden = true;
    thread.replaceChildren();
    return;
  }
  const html = await fragment("thread", at());
  if (html === null) return;
  if (html === "") return leaveThread();
  const fresh = parse(html);
  if (isOf(thread, fresh)) return renew(thread, fresh);
  thread.replaceChildren(fresh);
  unveil();
  present(thread);
  showNewest(byId("replies"));
  if (focus) focusThread();
}

// It is not there any more, as after a restart of the workspace.
function leaveThread() {
  place.shown = { ...place.shown, thread: "" };
  place.live.watch(place.shown);
  return showThread();
}

// Where it covers the rest, it is what the page is about.
export function unveil() {
  thread.hidden = false;
  thread.role = hasRoomForBoth() ? "complementary" : "main";
}

function focusThread() {
  (typesAtOnce() ? thread.querySelector("textarea") : byId("replies"))?.focus();
}

// On a phone it lies over the rest, which can not be reached meanwhile.
export function showSidebar(open) {
  if (open === app.classList.contains("side-open")) return;
  app.classList.toggle("side-open", open);
  pane.inert = thread.inert = open;
  (open ? sidebar.querySelector("[aria-current]") : pane.querySelector(".burger"))?.focus();
}

export function markSidebar() {
  for (const link of sidebar.querySelectorAll(".side-link")) {
    const current = link.dataset.channelLink === place.shown.channel;
    link.classList.toggle("current", current);
    current ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  document.title = `${pane.querySelector("[data-title]").dataset.title} · Local workspace`;
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
  openedHome();
  markSidebar();
  byId("act-as")?.focus();
}

// The agent makes Home when it is opened; told once the socket is there, so that what it publishes arrives.
export function openedHome() {
  if (place.shown.tab === "home") place.live.socket.addEventListener("open", () => act("home", { tab: "home" }), { once: true });
}

export async function redraw() {
  drawn.changes = Infinity;
  await showPane();
  await showThread({ focus: false });
  history.replaceState(place.shown, "", address());
}

export function closeThread() {
  const ts = place.shown.thread;
  if (pane.contains(document.activeElement)) return go({ thread: "" }); // one writes there
  // With the focus a message shows its tools to a finger, which did not ask for them.
  go({ thread: "" }).then(() => (byTouch() ? byId("messages") : pane.querySelector(`.msg[data-ts="${ts}"]`))?.focus({ preventScroll: true }));
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
    const isTall = message.offsetHeight > message.closest(".scroller").clientHeight;
    message.scrollIntoView({ block: isTall ? "start" : "center" });
  }
}

function sent(composer, answer, text) {
  if (answer.ts && !composer.thread && (text.includes("@") || place.shown.channel.startsWith("D"))) place.asked.add(answer.ts);
}
