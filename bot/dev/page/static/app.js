// The page: listens to the person and to the server.
import { operations } from "./arrivals.js";
import { changed, clicks } from "./clicks.js";
import { byId, localise } from "./dom.js";
import { Live } from "./live.js";
import { actAs, address, go, markSidebar, messageAt, openMessage, place, present, redraw, showMessage, speak } from "./place.js";
import { act } from "./server.js";

const settle = (step) => { place.settled = place.settled.then(step); };

place.live = new Live({
  onOperations: (list) => settle(async () => { for (const op of list) await operations[op.op]?.(op); }),
  onConnected: () => settle(redraw),
  onLost: (isLost) => { byId("lost").textContent = isLost ? "Connection lost. Trying again…" : ""; },
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link && (event.metaKey || event.ctrlKey || event.shiftKey)) return;
  const message = link && messageAt(link.href);
  if (message) {
    event.preventDefault();
    return openMessage(message);
  }
  const target = event.target.closest("[data-do]");
  if (!target) return;
  if (target.tagName === "A" && !target.target) event.preventDefault();
  clicks[target.dataset.do](target);
  target.closest("[popover]")?.hidePopover();
});

document.addEventListener("change", (event) => {
  if (event.target.id === "act-as") return actAs(event.target.value);
  if (event.target.dataset.change === "language") return speak(event.target.value);
  if (event.target.dataset.change === "beside") return act("beside", { channel: event.target.value });
  const field = event.target.closest("[data-action-id]");
  if (field) changed(field);
});

addEventListener("popstate", (event) => event.state && go(event.state, { push: false }));

// A message must not change under a press: what arrives meanwhile waits until the press ends.
document.addEventListener("pointerdown", (event) => {
  if (!event.target.closest(".msg button, .status button")) return;
  const released = new Promise((resolve) => {
    for (const end of ["pointerup", "pointercancel", "blur"]) addEventListener(end, () => setTimeout(resolve), { once: true });
  });
  settle(() => released);
});

// A status shows its loading messages in turn, and ends after a while, as in Slack.
setInterval(() => {
  for (const words of document.querySelectorAll("[data-rotate]")) {
    const all = JSON.parse(words.dataset.rotate);
    if (Date.now() / 1000 <= words.dataset.until) {
      if (all.length > 1) words.textContent = all[(all.indexOf(words.textContent) + 1) % all.length];
    } else if (words.dataset.otherwise) words.textContent = words.dataset.otherwise;
    else words.closest("[data-status]").replaceChildren();
  }
}, 2500);

setInterval(() => localise(document.body), 60_000);

const query = new URLSearchParams(location.search);
place.shown = {
  channel: document.querySelector("[data-channel]").dataset.channel,
  thread: document.querySelector("#thread [data-thread]")?.dataset.thread ?? "",
  tab: byId("home") ? "home" : "messages",
};
present(document);
markSidebar();
history.replaceState(place.shown, "", query.get("ts") ? location.href : address());
place.live.connect(place.shown);
if (query.get("ts")) showMessage(query.get("ts"));
else document.querySelector("form.composer textarea")?.focus();
