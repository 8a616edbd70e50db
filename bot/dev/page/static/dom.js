// Fragments into the page without disturbing what the person is doing in it.
import { morph } from "./morph.js";

export const byId = (id) => document.getElementById(id);

export function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

export const icon = (name) => `<svg class="icon" aria-hidden="true"><use href="#i-${name}"/></svg>`;

// On a phone Return begins a new line, and the keyboard comes only when one asks for it.
export const byTouch = () => matchMedia("(pointer: coarse)").matches;

// Too small for more than one column, as a phone is in either direction; the style sheets say the same.
export const isSmall = () => matchMedia("(max-width: 760px), (max-width: 960px) and (max-height: 500px)").matches;

// Whether a thread stands beside its channel; else it covers it.
export const hasRoomForBoth = () => matchMedia("(min-width: 1101px)").matches;

// Whether the box takes the focus by itself.
export const typesAtOnce = () => !isSmall() && !byTouch();

const TIME = { hour: "numeric", minute: "2-digit" };

// Fill in every <time data-ts> in the reader's own zone and language.
export function localise(root) {
  for (const time of root.querySelectorAll("time[data-ts]")) {
    const date = new Date(Number(time.dataset.ts) * 1000);
    time.dateTime = date.toISOString();
    time.title = date.toLocaleString();
    time.textContent = shown(date, time.dataset);
  }
}

// A few emoji and nothing else are shown large, as Slack does.
export function enlarge(root) {
  for (const text of root.querySelectorAll(".content > .text")) {
    text.classList.toggle("large", /^(\p{RGI_Emoji}\s*){1,23}$/v.test(text.textContent.trim()));
  }
}

function shown(date, wanted) {
  if ("ago" in wanted) return ago(date);
  return date.toLocaleTimeString([], TIME);
}

function ago(date) {
  const minutes = Math.round((Date.now() - date) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 1440 ? `${Math.round(minutes / 60)} h ago` : date.toLocaleDateString();
}

// Day lines, and repeated names left out when one person goes on within five minutes.
export function arrange(list) {
  for (const line of list.querySelectorAll(":scope > .day, :scope > .count-line")) line.remove();
  const messages = [...list.children];
  const inThread = list.closest(".thread") !== null;
  let before = null;
  messages.forEach((message, i) => {
    const date = new Date(Number(message.dataset.ts) * 1000);
    const sameDay = before && before.date.toDateString() === date.toDateString();
    if (!sameDay && !inThread) message.before(line("day", dayName(date)));
    const close = sameDay && date - before.date < 300000 && before.author === message.dataset.author;
    message.classList.toggle("grouped", Boolean(close) && !(inThread && i === 1) && !before.alone && !("alone" in message.dataset));
    before = { date, author: message.dataset.author, alone: "alone" in message.dataset };
  });
  const replies = messages.slice(1).filter((message) => !("private" in message.dataset)).length;
  if (inThread && replies) messages[0].after(line("count-line", replies === 1 ? "1 reply" : `${replies} replies`));
  oneTabStop(messages);
  list.closest(".scroller")?.classList.toggle("has-messages", messages.length > 0);
}

// Tab reaches the message one was at, or the newest; the arrows lead on from there.
function oneTabStop(messages) {
  const at = messages.find((message) => message.contains(document.activeElement)) ?? messages.at(-1);
  for (const message of messages) message.tabIndex = message === at ? 0 : -1;
}

function line(kind, text) {
  const element = document.createElement("div");
  element.className = kind;
  element.textContent = text;
  return element;
}

function dayName(date) {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86400000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return date.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
}

// Put a message where its ts belongs, or in the place of its older self.
export function upsert(list, html) {
  const fresh = parse(html).querySelector(".msg");
  localise(fresh);
  enlarge(fresh);
  const old = list.querySelector(`:scope > [data-ts="${CSS.escape(fresh.dataset.ts)}"]`);
  const isSaid = !old || wordsOf(old) !== wordsOf(fresh);
  if (old) {
    if (!old.querySelector(".more")) old.dataset.whole = "";
    morph(old, fresh);
  } else {
    const next = [...list.querySelectorAll(":scope > .msg")].find((m) => m.dataset.ts > fresh.dataset.ts);
    next ? next.before(fresh) : list.append(fresh);
  }
  arrange(list);
  return { element: old ?? fresh, isNew: !old, isSaid };
}

const wordsOf = (message) => message.querySelector("[data-content]").textContent;

// The buttons of a message are there only while it is pointed at or has the focus.
export function focusOn(element) {
  element.closest(".msg")?.focus({ preventScroll: true });
  element.focus();
}

export const atBottom = (scroller) => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;

export function toBottom(scroller) {
  scroller.scrollTop = scroller.scrollHeight;
}

// The end, or the top of `first` where that would be out of sight; its tools reach out of it. → whether it would.
export function toEnd(scroller, first) {
  toBottom(scroller);
  const hidden = scroller.getBoundingClientRect().top + 18 - first.getBoundingClientRect().top;
  if (hidden > 0) scroller.scrollTop -= hidden;
  return hidden > 0;
}

// Whoever reads the newest message still does when the box below it grows, or a thread opens beside it.
export const keeper = new ResizeObserver((entries) => {
  for (const { target } of entries) if (endIsShown(target)) toBottom(target);
});

const endIsShown = (scroller) => scroller.endIsShown ?? scroller.querySelector("[data-messages]") !== null;

document.addEventListener("scroll", ({ target }) => { target.endIsShown = atBottom(target); }, { capture: true, passive: true });
