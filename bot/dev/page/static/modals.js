// Modals of the app, and the confirm dialog. The server says which view is on top; views below it
// wait here with what was typed into them.
import { prepareFields, valueOf, valuesIn } from "./fields.js";
import { place } from "./place.js";
import { act } from "./server.js";
import { byTouch, focusOn, parse } from "./dom.js";
import { prepareTables } from "./tables.js";
import { rescueToasts } from "./toast.js";

const waiting = new Map();
let cameFrom = null;
const top = () => document.querySelector("dialog[data-view-id]");

export function showModals(html, channel) {
  const fresh = parse(html).querySelector("dialog");
  const old = top();
  if (old && fresh?.dataset.viewId === old.dataset.viewId) {
    if (fresh.dataset.hash !== old.dataset.hash || !old.open) replaceBody(old, fresh, channel);
    return;
  }
  if (!old) cameFrom = document.activeElement;
  if (old) shelve(old);
  if (!fresh) {
    waiting.clear();
    if (cameFrom?.isConnected) focusOn(cameFrom);
    return;
  }
  const kept = waiting.get(fresh.dataset.viewId);
  waiting.delete(fresh.dataset.viewId);
  const dialog = kept && kept.dataset.hash === fresh.dataset.hash ? kept : fresh;
  document.body.append(dialog);
  if (dialog === fresh) wire(dialog);
  prepare(dialog, channel);
  dialog.showModal();
  (byTouch() ? dialog : firstField(dialog))?.focus();
}

function shelve(dialog) {
  rescueToasts(dialog);
  dialog.close();
  dialog.remove();
  dialog.removeAttribute("aria-busy");
  waiting.set(dialog.dataset.viewId, dialog);
}

const firstField = (dialog) =>
  dialog.querySelector("[autofocus]") ?? dialog.querySelector(".modal-body :is(input, textarea, select, button)") ?? dialog.querySelector(".modal-foot .btn");

// Slack keeps what was typed in a field whose block_id and action_id stay the same.
function replaceBody(dialog, fresh, channel) {
  const typed = new Map([...dialog.querySelectorAll(":is(input, textarea, select)[data-action-id]")].map((f) => [`${f.dataset.blockId}/${f.dataset.actionId}`, f.value]));
  const focused = document.activeElement?.dataset?.actionId;
  rescueToasts(dialog);
  dialog.dataset.hash = fresh.dataset.hash;
  dialog.replaceChildren(...fresh.childNodes);
  dialog.removeAttribute("aria-busy");
  prepare(dialog, channel);
  for (const field of dialog.querySelectorAll(":is(input, textarea, select)[data-action-id]")) {
    const before = typed.get(`${field.dataset.blockId}/${field.dataset.actionId}`);
    if (before) field.value = before;
  }
  const again = focused && dialog.querySelector(`[data-action-id="${CSS.escape(focused)}"]`);
  (again || firstField(dialog))?.focus();
}

function prepare(dialog, channel) {
  prepareFields(dialog, channel);
  prepareTables(dialog);
}

function wire(dialog) {
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    closeModal(dialog);
  });
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(dialog);
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(dialog);
  });
}

export function closeModal(dialog) {
  act("close", { view_id: dialog.dataset.viewId });
}

async function submit(dialog) {
  if (dialog.ariaBusy === "true" || !dialog.querySelector("[data-testid=modal-submit]")) return;
  showErrors(dialog, {});
  const missing = missingFields(dialog);
  if (Object.keys(missing).length) return showErrors(dialog, missing);
  dialog.ariaBusy = "true";
  const button = dialog.querySelector("[data-testid=modal-submit]");
  button.ariaBusy = "true";
  const answer = await act("submit", { view_id: dialog.dataset.viewId, values: valuesIn(dialog) });
  dialog.removeAttribute("aria-busy");
  button.removeAttribute("aria-busy");
  if (answer?.errors) return showErrors(dialog, answer.errors);
  if (answer && place.asking) place.awaited.add(place.asking);
  place.asking = "";
}

function missingFields(dialog) {
  const missing = {};
  for (const block of dialog.querySelectorAll(".input")) {
    const field = block.querySelector("[data-action-id]");
    if (!field || block.querySelector(".input-label .muted")) continue;
    const value = valueOf(field);
    if (value === null || value === "" || value?.length === 0) missing[field.dataset.blockId] = "Please complete this required field.";
  }
  return missing;
}

function showErrors(dialog, errors) {
  const left = { ...errors };
  for (const note of dialog.querySelectorAll("[data-error-for]")) {
    const text = left[note.dataset.errorFor];
    delete left[note.dataset.errorFor];
    note.textContent = text ?? "";
    note.hidden = !text;
    const field = note.parentElement.querySelector("[data-action-id]");
    field?.classList.toggle("invalid", Boolean(text));
    field?.setAttribute("aria-invalid", String(Boolean(text)));
  }
  const rest = dialog.querySelector(".form-error");
  rest.textContent = Object.values(left).join(" ");
  rest.hidden = !rest.textContent;
  const first = dialog.querySelector(".invalid");
  first?.focus();
  first?.closest(".input").scrollIntoView({ block: "nearest" });  // what is wrong stands below it
}

// → whether the person said yes.
export function confirmed({ title, text, confirm, deny, style }) {
  const dialog = document.getElementById("confirm");
  const [heading, words, yes, no] = ["confirm-title", "confirm-text", "confirm-yes", "confirm-no"].map((id) => document.getElementById(id));
  heading.textContent = title || "Are you sure?";
  words.textContent = text || "";
  yes.textContent = confirm || "Yes";
  no.textContent = deny || "Cancel";
  yes.className = style === "danger" ? "btn danger" : "btn primary";
  dialog.returnValue = "";
  dialog.showModal();
  yes.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => { rescueToasts(dialog); resolve(dialog.returnValue === "yes"); }, { once: true });
  });
}
