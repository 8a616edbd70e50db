// On a touch screen a long press on a message opens what can be done with it, as in Slack's app.
import { clicks } from "./clicks.js";

const LONG = 450; // milliseconds
const STILL = 10; // pixels that a finger at rest may move
let held = null;
let isOpened = false;

const release = () => {
  clearTimeout(held?.timer);
  held = null;
};

document.addEventListener("pointerdown", (event) => {
  release();
  if (event.pointerType !== "touch" || event.target.closest("a, button, summary, input, textarea, select")) return;
  const more = event.target.closest(".msg")?.querySelector("[data-do=message-menu]");
  if (more) held = { x: event.clientX, y: event.clientY, timer: setTimeout(open, LONG, more) };
});

function open(more) {
  isOpened = true;
  clicks["message-menu"](more);
}

// The end of a long press is no tap on what the sheet has there.
document.addEventListener("touchend", (event) => {
  if (isOpened) event.preventDefault();
  isOpened = false;
}, { passive: false });

document.addEventListener("pointermove", (event) => {
  if (held && Math.hypot(event.clientX - held.x, event.clientY - held.y) > STILL) release();
});

for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, release);
document.addEventListener("scroll", release, true);

// Where the browser has a menu of its own for a long press.
document.addEventListener("contextmenu", (event) => {
  if (event.pointerType === "touch" && event.target.closest(".msg") && !event.target.closest("a")) event.preventDefault();
});
