// Modals of the app, and the confirmation dialog. The server says which view is on top; views below it
// are kept here with what was typed into them.
import { prepareFields, valueOf, valuesIn } from "./fields.js";
import { localise, parse } from "./dom.js";
import { act } from "./server.js";

const below = new Map(); // view id → its dialog

export function showModals(html, channel) {
  const fresh = parse(html).querySelector("dialog");
  const old = document.querySelector("dialog[data-view-id]");
  if (old && fresh?.dataset.viewId === old.dataset.viewId) {
    if (fresh.dataset.hash !== old.dataset.hash) update(old, fresh, channel);
    return;
  }
  if (old) {
    old.close();
    old.remove();
    below.set(old.dataset.viewId, old);
  }
  if (!fresh) return below.clear();
  const kept = below.get(fresh.dataset.viewId);
  below.delete(fresh.dataset.viewId);
  const dialog = kept?.dataset.hash === fresh.dataset.hash ? kept : fresh;
  document.body.append(dialog);
  if (dialog === fresh) listen(dialog);
  localise(dialog);
  prepareFields(dialog, channel);
  dialog.showModal();
  (dialog.querySelector("[autofocus]") ?? dialog.querySelector(".modal-body :is(input, textarea, select, button)"))?.focus();
}

// Slack keeps what was typed in a field whose block_id and action_id stay the same.
function update(dialog, fresh, channel) {
  const fieldsIn = (part) => [...part.querySelectorAll(":is(input, textarea, select)[data-action-id]")];
  const keyOf = ({ dataset }) => `${dataset.blockId}/${dataset.actionId}`;
  const typed = new Map(fieldsIn(dialog).map((field) => [keyOf(field), field.value]));
  dialog.dataset.hash = fresh.dataset.hash;
  dialog.replaceChildren(...fresh.childNodes);
  localise(dialog);
  prepareFields(dialog, channel);
  for (const field of fieldsIn(dialog)) if (typed.get(keyOf(field))) field.value = typed.get(keyOf(field));
}

function listen(dialog) {
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    closeModal(dialog);
  });
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(dialog);
  });
}

export function closeModal(dialog) {
  act("close", { view_id: dialog.dataset.viewId });
}

async function submit(dialog) {
  const button = dialog.querySelector("[data-testid=modal-submit]");
  if (!button || button.ariaBusy === "true") return;
  const missing = missingFields(dialog);
  showErrors(dialog, missing);
  if (Object.keys(missing).length) return;
  button.ariaBusy = "true";
  const answer = await act("submit", { view_id: dialog.dataset.viewId, values: valuesIn(dialog) });
  button.ariaBusy = null;
  if (answer?.errors) showErrors(dialog, answer.errors);
}

function missingFields(dialog) {
  const missing = {};
  for (const block of dialog.querySelectorAll(".input")) {
    const field = block.querySelector("[data-action-id]");
    if (!field || block.querySelector(".input-label .muted")) continue;
    const value = valueOf(field);
    if (value === null || value.length === 0) missing[field.dataset.blockId] = "Please complete this required field.";
  }
  return missing;
}

function showErrors(dialog, errors) {
  for (const note of dialog.querySelectorAll("[data-error-for]")) {
    const text = errors[note.dataset.errorFor] ?? "";
    note.textContent = text;
    note.hidden = !text;
    note.parentElement.querySelector("[data-action-id]")?.classList.toggle("invalid", Boolean(text));
  }
  const first = dialog.querySelector(".invalid");
  first?.focus();
  first?.closest(".input").scrollIntoView({ block: "nearest" }); // its error is below it
}

// → whether the person said yes.
export function confirmed({ title, text, confirm, deny, style }) {
  const [dialog, heading, words, yes, no] = ["confirm", "confirm-title", "confirm-text", "confirm-yes", "confirm-no"].map((id) => document.getElementById(id));
  heading.textContent = title || "Are you sure?";
  words.textContent = text || "";
  yes.textContent = confirm || "Yes";
  no.textContent = deny || "Cancel";
  yes.className = style === "danger" ? "btn danger" : "btn primary";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
