// The app's step of a workflow: its inputs are filled in here, and its outputs are shown.
import { parse } from "./dom.js";
import { act } from "./server.js";

const WORKING = `<p class="muted">The agent works on it; Slack shows nothing meanwhile.</p>`;
const ended = new Map(); // execution → its outputs, where they came before the answer with its id

export const openStep = (button) => document.querySelector(`dialog[data-step="${button.dataset.function}"]`).showModal();

export const closeStep = (button) => button.closest("dialog").close();

export function stepEnded(op) {
  ended.set(op.execution, op.html);
  const dialog = document.querySelector(`dialog[data-execution="${op.execution}"]`);
  if (dialog) show(dialog, op.html);
}

function show(dialog, html) {
  dialog.querySelector("[data-outputs]").replaceChildren(parse(html));
}

for (const dialog of document.querySelectorAll("dialog[data-step]")) {
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    run(dialog);
  });
}

async function run(dialog) {
  const inputs = Object.fromEntries(new FormData(dialog.querySelector("form")));
  show(dialog, WORKING);
  const answer = await act("step", { function: dialog.dataset.step, inputs });
  dialog.dataset.execution = answer?.execution ?? "";
  if (!answer) show(dialog, "");
  else if (ended.has(answer.execution)) show(dialog, ended.get(answer.execution));
}
