// The app's step of a workflow: its inputs are filled in here, and what it returns is shown.
import { parse } from "./dom.js";
import { act } from "./server.js";
import { rescueToasts } from "./toast.js";

const WORKING = `<p class="muted"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span> The agent works on it; Slack shows nothing meanwhile.</p>`;

export function openStep(button) {
  const dialog = document.querySelector(`dialog[data-step="${CSS.escape(button.dataset.function)}"]`);
  dialog.showModal();
}

export function closeStep(button) {
  const dialog = button.closest("dialog");
  rescueToasts(dialog);
  dialog.close();
}

export function stepEnded(op) {
  const dialog = document.querySelector(`dialog[data-execution="${CSS.escape(op.execution)}"]`);
  if (!dialog) return ended.set(op.execution, op.html);
  delete dialog.dataset.execution;
  dialog.querySelector("[data-outputs]").replaceChildren(parse(op.html));
  dialog.querySelector("[data-testid=run-step]").removeAttribute("aria-busy");
}

const ended = new Map(); // outputs that came before the page knew the execution's id

for (const dialog of document.querySelectorAll("dialog[data-step]")) {
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    run(dialog);
  });
}

async function run(dialog) {
  const button = dialog.querySelector("[data-testid=run-step]");
  if (button.ariaBusy === "true") return;
  const inputs = Object.fromEntries(new FormData(dialog.querySelector("form")));
  button.ariaBusy = "true";
  dialog.querySelector("[data-outputs]").replaceChildren(parse(WORKING));
  const answer = await act("step", { function: dialog.dataset.step, inputs });
  if (!answer) {
    button.removeAttribute("aria-busy");
    return dialog.querySelector("[data-outputs]").replaceChildren();
  }
  dialog.dataset.execution = answer.execution;
  if (ended.has(answer.execution)) stepEnded({ execution: answer.execution, html: ended.get(answer.execution) });
}
