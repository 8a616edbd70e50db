// The keys that move through messages and back to where one was; those of menus and of the composer
// are with these.
import { clicks } from "./clicks.js";
import { app, closeThread, place, showSidebar } from "./place.js";

document.addEventListener("keydown", (event) => {
  const { target } = event;
  const tools = target.closest?.(".toolbar");
  if (event.key === "ArrowUp" && target.matches?.("form.composer textarea") && !target.value) editLast(event);
  else if (target.classList?.contains("msg")) inMessage(event, target);
  else if (target.role === "tab" && /^Arrow(Left|Right)$/.test(event.key)) toOtherTab(target);
  else if (tools) inToolbar(event, tools);
  else if (event.key === "Escape" && !document.querySelector("dialog[open]")) back();
});

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
  else return;
  event.preventDefault();
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
