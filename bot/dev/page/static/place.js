// What the window shows: a conversation or the Home tab in the pane, and a thread beside it.
import { Composer } from "./composer.js";
import { atBottom, byId, keepAtBottom, localise, parse, toNewest } from "./dom.js";
import { prepareFields } from "./fields.js";
import { showModals } from "./modals.js";
import { morphChildren } from "./morph.js";
import { act, fragment, user } from "./server.js";
import { clearToasts } from "./toast.js";

const [sidebar, pane, thread] = ["sidebar", "pane", "thread"].map(byId);

export const place = {
  shown: { channel: "", thread: "", tab: "messages" },
  settled: Promise.resolve(), // live changes wait for a navigation to finish
  asked: new Set(), // own questions: their thread opens when the answer begins
  live: null,
};

// Make a new fragment work: times, fields, composers, scrolling.
export function present(root) {
  localise(root);
  prepareFields(root, place.shown.channel);
  for (const scroller of root.querySelectorAll("#messages, #replies")) keepAtBottom.observe(scroller);
  for (const form of root.querySelectorAll("form.composer")) form.composer ?? new Composer(form, sent);
}

export function go(changes, options) {
  place.settled = place.settled.then(() => navigate(changes, options));
  return place.settled;
}

async function navigate(changes, { push = true, focus = true } = {}) {
  const before = place.shown;
  place.shown = { ...before, ...changes };
  clearToasts();
  await place.live.watch(place.shown);
  const isElsewhere = before.channel !== place.shown.channel || before.tab !== place.shown.tab;
  if (isElsewhere && !(await showPane())) {
    place.shown = before;
    return place.live.watch(before);
  }
  await showThread();
  if (focus) (place.shown.thread ? thread : pane).querySelector("textarea")?.focus();
  if (push && address() !== location.pathname + location.search) history.pushState(place.shown, "", address());
}

export function address() {
  const query = { user: user(), channel: place.shown.channel };
  if (place.shown.thread) query.thread = place.shown.thread;
  if (place.shown.tab !== "messages") query.tab = place.shown.tab;
  return `/?${new URLSearchParams(query)}`;
}

// Draw everything again, as changes may have been missed, or the person is another.
export async function redraw() {
  if (!(await showPane())) return;
  await showThread();
  const html = await fragment("sidebar", place.shown);
  if (html !== null) morphChildren(sidebar, parse(html));
  // Once a person has chosen an entry, a browser no longer follows the attributes of a select.
  for (const select of sidebar.querySelectorAll("select")) select.value = select.querySelector("[selected]").value;
  markSidebar();
  localise(document.body); // the person may have another language
  history.replaceState(place.shown, "", address());
  if (place.shown.tab === "home") act("home", { tab: "home" }); // the app publishes Home when it is opened
  await translateFrame();
}

// The notice, the menus and the toasts are in the language of the person, too.
async function translateFrame() {
  const whole = parse((await fragment("whole", place.shown)) ?? "");
  for (const id of ["notice", "message-menu", "global-menu", "samples-menu"]) {
    const fresh = whole.querySelector(`#${id}`);
    if (fresh && byId(id)) morphChildren(byId(id), fresh);
  }
  Object.assign(byId("toasts").dataset, whole.querySelector("#toasts")?.dataset);
}

async function showPane() {
  const html = await fragment("pane", place.shown);
  if (html === null) return false;
  const fresh = parse(html);
  const { channel, tab } = fresh.querySelector("[data-channel]").dataset;
  if (channel !== place.shown.channel) { // the person is not in the conversation
    place.shown = { ...place.shown, channel, tab, thread: "" };
    place.live.watch(place.shown);
  }
  replace(pane, fresh);
  markSidebar();
  return true;
}

async function showThread() {
  const html = place.shown.thread ? await fragment("thread", place.shown) : "";
  if (html === null) return;
  if (!html) place.shown = { ...place.shown, thread: "" };
  thread.hidden = !html;
  replace(thread, parse(html));
}

// The same place is changed only where it differs; another one is shown from its newest message on.
function replace(root, fresh) {
  const keyOf = (part) => part.querySelector("[data-place]")?.dataset.place;
  const isSame = keyOf(root) === keyOf(fresh);
  const wasAtBottom = [...root.querySelectorAll(".scroller")].every(atBottom);
  isSame ? morphChildren(root, fresh) : root.replaceChildren(fresh);
  present(root);
  if (!isSame || wasAtBottom) for (const list of root.querySelectorAll("#messages, #replies")) toNewest(list);
}

export function markSidebar() {
  for (const link of sidebar.querySelectorAll(".side-link")) {
    link.ariaCurrent = link.dataset.channelLink === place.shown.channel ? "page" : null;
  }
  document.title = `${pane.querySelector("h1").textContent} · Local workspace`;
}

// The thread stays open if the next person may read it too; a modal is the former person's.
export function actAs(id) {
  document.body.dataset.user = id;
  showModals("");
  place.live.connect(place.shown);
}

// The person's language is one of their preferences in Slack: the app draws Home in it when it is opened.
export async function speak(locale) {
  await act("language", { locale });
  await redraw();
}

// → { channel, thread, ts } of a link to a message of this workspace, or null.
export function messageAt(href) {
  const { port, pathname, searchParams } = new URL(href);
  const found = port === location.port && /^\/archives\/(\w+)\/p(\d{10})(\d{6})$/.exec(pathname);
  return found ? { channel: found[1], thread: searchParams.get("thread_ts") ?? "", ts: `${found[2]}.${found[3]}` } : null;
}

export async function openMessage({ channel, thread, ts }) {
  await go({ channel, tab: "messages", thread });
  showMessage(ts);
}

export function showMessage(ts) {
  document.querySelector(`.thread .msg[data-ts="${ts}"], .pane .msg[data-ts="${ts}"]`)?.scrollIntoView({ block: "center" });
}

function sent(composer, answer, text) {
  if (answer.ts && !composer.thread && (text.includes("@") || place.shown.channel.startsWith("D"))) place.asked.add(answer.ts);
}
