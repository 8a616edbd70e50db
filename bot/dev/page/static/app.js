// The page: listens to the person and to the server, and starts.
import { operations } from "./arrivals.js";
import { changed, clicks } from "./clicks.js";
import { byId, isSmall, localise, toBottom, typesAtOnce } from "./dom.js";
import { label } from "./fields.js";
import "./holding.js";
import "./keyboard.js";
import { Live } from "./live.js";
import { closeMenu, menuContext } from "./menus.js";
import { actAs, address, flash, go, markSidebar, messageAt, openMessage, openedHome, pane, place, present, redraw, showNewest, showSidebar, thread, unveil } from "./place.js";
import { act, user } from "./server.js";

place.live = new Live(
  (list) => { place.settled = place.settled.then(() => list.forEach((op) => operations[op.op]?.(op))); },
  () => { place.settled = place.settled.then(redraw); },
  (lost) => { byId("lost").textContent = lost ? "Connection lost. Trying again…" : ""; },
);

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link && (event.metaKey || event.ctrlKey || event.shiftKey)) return;
  const message = link && messageAt(link.href);
  if (message) {
    event.preventDefault();
    closeMenu();
    return openMessage(message);
  }
  const target = event.target.closest("[data-do]");
  if (!target || !clicks[target.dataset.do]) return;
  if (target.tagName === "A" && !target.target) event.preventDefault();
  const context = menuContext();
  if (target.role === "menuitem") closeMenu({ refocus: event.detail === 0 }); // by the keyboard
  if (context?.message === null) return; // deleted under the open menu
  clicks[target.dataset.do](target, context);
});

document.addEventListener("change", (event) => {
  if (event.target.id === "act-as") return actAs(event.target.value);
  if (event.target.dataset.change === "beside") return act("beside", { channel: event.target.value });
  const multi = event.target.closest("details.multi");
  if (multi) label(multi);
  const field = event.target.closest("[data-action-id]");
  if (field) changed(field);
});

addEventListener("resize", () => isSmall() || showSidebar(false));

addEventListener("popstate", (event) => {
  if (!event.state) return;
  closeMenu();
  for (const dialog of document.querySelectorAll("dialog[open]:not([data-view-id])")) dialog.close();
  go({ ...event.state }, { push: false });
});

for (const moved of ["wheel", "touchmove"]) addEventListener(moved, () => place.awaited.clear(), { passive: true });

// A press on a message that is drawn anew meanwhile would be none: what arrives waits for its end.
addEventListener("pointerdown", (event) => {
  if (!event.target.closest(".msg button, .msg summary, .status button")) return;
  const released = new Promise((resolve) => {
    for (const end of ["pointerup", "pointercancel", "blur"]) addEventListener(end, () => setTimeout(resolve), { once: true });
  });
  place.settled = place.settled.then(() => released);
});

// An image that arrives late must not push the newest message out of sight.
document.addEventListener("load", (event) => {
  const scroller = event.target.closest?.(".scroller");
  if (!scroller || event.target.tagName !== "IMG") return;
  const away = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
  if (away < event.target.height + 80) toBottom(scroller);
}, true);

// Loading messages take turns, and a status goes after a while, as Slack's do.
setInterval(() => {
  for (const words of document.querySelectorAll("[data-rotate]")) {
    const all = JSON.parse(words.dataset.rotate);
    if (Date.now() / 1000 > words.dataset.until) outlived(words);
    else if (all.length > 1) words.textContent = all[(all.indexOf(words.textContent) + 1) % all.length];
  }
}, 2500);

// "just now" does not stay true.
setInterval(() => localise(document.body), 30_000);

function outlived(words) {
  const { otherwise } = words.dataset;
  if (!otherwise) words.closest("[data-status]").replaceChildren();
  else if (words.textContent !== otherwise) {
    words.previousElementSibling.hidden = false; // loading messages go without the name, a status after it
    words.textContent = otherwise;
  }
}

// ---- start

const query = new URLSearchParams(location.search);
const tab = byId("home") ? "home" : "messages";
const list = byId("messages");
place.shown = {
  channel: list?.dataset.list ?? query.get("channel") ?? "",
  thread: thread.querySelector("[data-thread]")?.dataset.thread ?? "",
  tab,
};
if (sessionStorage.getItem("notice")) document.querySelector(".notice")?.remove();
if (!thread.hidden) unveil();
present(document);
markSidebar();
history.replaceState(place.shown, "", query.get("ts") ? location.href : address());
place.live.showing = place.shown;
place.live.connect(user());
openedHome();
document.querySelectorAll("#messages, #replies").forEach(showNewest);
if (query.get("ts")) flash(query.get("ts"));
else if (typesAtOnce()) (thread.querySelector("textarea") ?? pane.querySelector("textarea"))?.focus();
