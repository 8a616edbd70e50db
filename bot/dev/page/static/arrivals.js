// Operations that arrive live from the server, and what each changes on the page.
import { atBottom, byId, localise, parse, toNewest } from "./dom.js";
import { prepareFields } from "./fields.js";
import { showModals } from "./modals.js";
import { morph, morphChildren } from "./morph.js";
import { go, markSidebar, place, present, redraw } from "./place.js";
import { user } from "./server.js";
import { stepEnded } from "./steps.js";

export const operations = {
  message(op) {
    if (op.channel !== place.shown.channel) return;
    if (op.in_channel) put(byId("messages"), op.in_channel, op.author);
    if (op.in_thread) put(byId("replies"), op.in_thread, op.author);
    if (op.thread !== op.ts) openAsked(op.thread);
  },
  remove(op) {
    for (const message of document.querySelectorAll(`.msg[data-ts="${op.ts}"]`)) message.remove();
    if (op.channel === place.shown.channel && op.ts === place.shown.thread) go({ thread: "" });
  },
  status(op) {
    for (const line of document.querySelectorAll(`[data-status="${op.channel}:${op.thread}"]`)) {
      morphChildren(line, parse("inline" in line.dataset ? op.inline : op.html));
    }
    if (op.html && !op.channel.startsWith("D")) openAsked(op.thread); // there the answer may come in no thread
  },
  prompts(op) {
    for (const box of document.querySelectorAll(`[data-prompts="${op.channel}:${op.thread}"]`)) box.replaceChildren(parse(op.html));
  },
  modals: (op) => showModals(op.html, place.shown.channel),
  home(op) {
    const home = byId("home");
    if (!home) return;
    home.replaceChildren(parse(op.html));
    present(home);
  },
  step: stepEnded,
  sidebar(op) {
    morphChildren(byId("sidebar"), parse(op.html));
    markSidebar();
  },
  redraw,
};

// Put a message where its ts belongs, or change the one that is there.
function put(scroller, html, author) {
  if (!scroller) return;
  const list = scroller.querySelector("[data-messages]");
  const fresh = parse(html).querySelector(".msg");
  const old = list.querySelector(`:scope > [data-ts="${fresh.dataset.ts}"]`);
  const follow = atBottom(scroller) || (!old && author === user());
  localise(fresh);
  if (old) morph(old, fresh);
  else list.insertBefore(fresh, [...list.querySelectorAll(":scope > .msg")].find((each) => each.dataset.ts > fresh.dataset.ts) ?? null);
  prepareFields(old ?? fresh, place.shown.channel);
  if (follow) toNewest(scroller);
}

function openAsked(ts) {
  if (!ts || !place.asked.has(ts)) return;
  for (const asked of place.asked) if (asked <= ts) place.asked.delete(asked); // an older one does not take its place
  if (!document.querySelector("#thread textarea")?.value.trim()) go({ thread: ts }, { focus: false });
}
