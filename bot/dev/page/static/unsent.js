// What one has typed into a modal outlives a reload of the page, as the modal itself does.
import { label } from "./fields.js";

const KEY = "modals"; // view → its hash, and what its controls hold
const all = () => JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
const controlsOf = (dialog) => dialog.querySelectorAll(".modal-body :is(input, textarea, select)");
const property = ({ type }) => (type === "checkbox" || type === "radio" ? "checked" : "value");

export function keep(dialog) {
  const { viewId, hash } = dialog.dataset;
  const values = [...controlsOf(dialog)].map((control) => control[property(control)]);
  sessionStorage.setItem(KEY, JSON.stringify({ ...all(), [viewId]: { hash, values } }));
}

export function restore(dialog) {
  const kept = all()[dialog.dataset.viewId];
  if (kept?.hash !== dialog.dataset.hash) return; // another form by now
  controlsOf(dialog).forEach((control, i) => { control[property(control)] = kept.values[i]; });
  dialog.querySelectorAll("details.multi").forEach(label);
}

export const forget = () => sessionStorage.removeItem(KEY);
