// A message forwarded to another conversation, with a note.
import { Completion } from "./completion.js";
import { openMessage, sidebar } from "./place.js";
import { act } from "./server.js";
import { rescueToasts, toast } from "./toast.js";

const dialog = document.getElementById("forward");
const form = dialog.querySelector("form");
const completion = new Completion(form.elements.note);
let message = null;

export function openForward(chosen) {
  message = chosen;
  form.reset();
  const { to } = form.elements;
  to.replaceChildren(new Option("Choose where to", "", true, true), ...places());
  const said = [...message.querySelectorAll("[data-content] :is(.text, .md, .file-name)")].map((text) => text.innerText.trim());
  dialog.querySelector("[data-preview]").textContent = said.join("\n").slice(0, 300) || "A message without text";
  dialog.showModal();
  to.focus();
}

function places() {
  const links = [...sidebar.querySelectorAll("[data-channel-link]")];
  return links.map(({ dataset: { room, name, channelLink } }) => new Option(room ? `#${room}` : name, channelLink));
}

function close() {
  rescueToasts(dialog);
  dialog.close();
}

for (const button of dialog.querySelectorAll("[data-cancel]")) button.addEventListener("click", close);

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { channel, ts } = message.dataset;
  const to = form.elements.to.selectedOptions[0];
  const answer = await act("forward", { channel, ts, to: to.value, note: form.elements.note.value });
  if (!answer) return;
  close();
  toast(`Forwarded to ${to.text}`, { action: { label: "View", run: () => openMessage({ channel: to.value, thread: "", ts: answer.ts }) } });
});

dialog.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) form.requestSubmit();
  else if (event.target === form.elements.note) completion.key(event);
});
