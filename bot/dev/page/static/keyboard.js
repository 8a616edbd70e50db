// The keys that move through messages and back to where one was; those of menus and of the composer
// are with these.
import { clicks, itemsFor } from "./clicks.js";
import { app, closeThread, pane, place, showSidebar, sidebar, thread } from "./place.js";

document.addEventListener("keydown", (event) => {
  const { target } = event;
  const tools = target.closest?.(".toolbar");
  if (event.key === "F6" && !document.querySelector("dialog[open]")) toNextPart(event);
  else if (event.key === "ArrowUp" && target.matches?.("form.composer textarea") && !target.value) editLast(event);
  else if (target.classList?.contains("msg")) inMessage(event, target);
  else if (target.role === "tab" && /^Arrow(Left|Right)$/.test(event.key)) toOtherTab(target);
  else if (tools) inToolbar(event, tools);
  else if (event.key === "Escape" && !document.querySelector("dialog[open]")) back();
  else if (target.matches?.("body, .scroller, .pane")) typeOn(event);
});

// Whoever just types, after reading or a click beside, writes a message.
function typeOn(event) {
  if (event.key.length !== 1 || event.key === " " || event.ctrlKey || event.metaKey || event.altKey) return;
  (place.shown.thread ? thread : pane).querySelector("textarea")?.focus(); // which then gets the key
}

// From the sidebar to the conversation, to the thread, and around, as in Slack.
function toNextPart(event) {
  event.preventDefault();
  const parts = [sidebar, pane, thread].filter((part) => part.checkVisibility({ visibilityProperty: true }));
  const at = parts.findIndex((part) => part.contains(document.activeElement));
  const to = parts.at((at + (event.shiftKey ? -1 : 1)) % parts.length);
  (to.querySelector("[aria-current], .composer textarea") ?? to).focus();
}

function back() {
  if (app.classList.contains("side-open")) showSidebar(false);
  else if (place.shown.thread) closeThread();
}

// From an empty composer, as in Slack.
function editLast(event) {
  const list = event.target.closest(".foot").previousElementSibling;
  const message = [...list.querySelectorAll(".msg:has([data-typed])")].at(-1);
  if (!message) return;
  event.preventDefault();
  clicks.edit(null, { message, back: event.target });
}

function inMessage(event, message) {
  const all = [...message.parentElement.querySelectorAll(":scope > .msg")];
  const near = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const to = near ? all[all.indexOf(message) + near] : { Home: all[0], End: all.at(-1) }[event.key];
  if (near || to) moveTo(to, all);
  else if (event.key === "ArrowRight" || event.key === "Enter") message.querySelector(".toolbar button")?.focus();
  else if (event.key === "Escape" && place.shown.thread) closeThread();
  else if (!asked(event, message)) return;
  event.preventDefault();
}

// One key for each of a message's actions, as in Slack. → whether it was one of them.
function asked(event, message) {
  const more = message.querySelector("[data-do=message-menu]");
  if (!more || event.ctrlKey || event.metaKey || event.altKey || event.target !== message) return false;
  const has = ({ dataset }) => dataset.key === event.key.toLowerCase();
  const [button, item] = [[...message.querySelectorAll(".toolbar button")].find(has), itemsFor(more).find(has)];
  button?.click();
  if (item) clicks[item.dataset.do](item, { message });
  return Boolean(button ?? item);
}

function moveTo(message, all) {
  if (!message) return;
  for (const other of all) other.tabIndex = other === message ? 0 : -1;
  message.focus();
}

const toOtherTab = (tab) => (tab.nextElementSibling ?? tab.previousElementSibling).focus(); // there are two

function inToolbar(event, tools) {
  const buttons = [...tools.querySelectorAll("button")];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) buttons.at((buttons.indexOf(event.target) + step) % buttons.length).focus();
  else if (event.key === "Escape") tools.closest(".msg").focus();
  else return;
  event.preventDefault();
}
