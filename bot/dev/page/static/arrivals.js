// What arrives live: each operation of the server, and the place in the page it changes.
import { messageCame, statusCame } from "./announcer.js";
import { arrange, atBottom, byId, hasRoomForBoth, parse, toBottom, toEnd, upsert } from "./dom.js";
import { prepareFields } from "./fields.js";
import { fold } from "./folding.js";
import { showModals } from "./modals.js";
import { morphChildren } from "./morph.js";
import { offerNewest } from "./newest.js";
import { go, markSidebar, place, present, redraw, sidebar } from "./place.js";
import { drawn, user } from "./server.js";
import { stepEnded } from "./steps.js";
import { prepareTables } from "./tables.js";

export const operations = {
  message(op) {
    if (op.channel !== place.shown.channel) return;
    if (op.in_channel && place.shown.tab === "messages") put(byId("messages"), op.in_channel, op.author);
    if (op.in_thread && op.thread === place.shown.thread) put(byId("replies"), op.in_thread, op.author);
    if (op.in_thread && op.ts === place.shown.thread) put(byId("replies"), op.in_thread, op.author);
    if (op.thread && op.thread !== op.ts) openAsked(op.thread);
  },
  remove(op) {
    for (const message of document.querySelectorAll(`.msg[data-channel="${op.channel}"][data-ts="${op.ts}"]`)) {
      const list = message.parentElement;
      const all = [...list.querySelectorAll(":scope > .msg")];
      const at = all.indexOf(message);
      const near = all[at + 1] ?? all[at - 1];
      const focused = message.contains(document.activeElement);
      message.remove();
      arrange(list);
      if (focused) (near ?? composerBelow(list))?.focus({ preventScroll: true });
    }
    if (op.channel === place.shown.channel && op.ts === place.shown.thread) leaveThread();
  },
  status(op) {
    for (const line of document.querySelectorAll(`[data-status="${op.channel}:${op.thread}"]`)) {
      const scroller = line.closest(".msg") && line.closest(".scroller");
      const stick = scroller && atBottom(scroller);
      morphChildren(line, parse("inline" in line.dataset ? op.inline : op.html));
      if (stick) toBottom(scroller);
    }
    statusCame(op);
    if (op.html) openAsked(op.thread);
  },
  prompts(op) {
    for (const box of document.querySelectorAll(`[data-prompts="${op.channel}:${op.thread}"]`)) box.replaceChildren(parse(op.html));
  },
  modals: (op) => showModals(op.html, place.shown.channel),
  home(op) {
    const home = byId("home");
    if (!home) return;
    const used = home.contains(document.activeElement) && document.activeElement.dataset.actionId;
    home.replaceChildren(parse(op.html));
    present(home);
    if (used) (home.querySelector(`[data-action-id="${CSS.escape(used)}"]`) ?? home).focus({ preventScroll: true });
  },
  step: stepEnded,
  sidebar(op) {
    morphChildren(sidebar, parse(op.html));
    markSidebar();
  },
  // What changed after it was drawn and before the server watched it has been missed.
  watched({ changes }) {
    if (changes > drawn.changes) place.settled = place.settled.then(redraw);
  },
  again: () => { place.settled = place.settled.then(redraw); },
  kept(op) {
    document.querySelector(`[data-kept="${op.channel}"]`)?.replaceChildren(parse(op.html));
  },
};

const composerBelow = (list) => list.closest(".scroller").nextElementSibling.querySelector("textarea");

// Its first message is gone: there is no thread to read any more.
function leaveThread() {
  const within = byId("thread").contains(document.activeElement);
  go({ thread: "" }).then(() => within && composerBelow(byId("messages"))?.focus());
}

function put(scroller, html, author) {
  if (!scroller) return;
  const near = atBottom(scroller);
  const { element, isNew, isSaid } = upsert(scroller.querySelector("[data-messages]"), html);
  prepareFields(element, place.shown.channel);
  prepareTables(element);
  fold(element);
  if (isSaid) messageCame(element);
  const stick = near || (isNew && (author === user() || isAwaited(scroller)));
  if (stick) element.nextElementSibling ? toBottom(scroller) : toEnd(scroller, element);
  else if (isNew) offerNewest(scroller);
}

// Whoever pressed a button of a message far above wants to see what comes of it.
function isAwaited(scroller) {
  if (!place.awaited.has(scroller.id)) return false;
  place.awaited.delete(scroller.id);
  return true;
}

function openAsked(ts) {
  if (!ts || !place.asked.has(ts)) return;
  for (const asked of place.asked) if (asked <= ts) place.asked.delete(asked); // an older one does not take its place
  const writing = document.querySelector("#thread textarea")?.value.trim();
  if (!writing && hasRoomForBoth()) go({ thread: ts }, { focus: false });
}
