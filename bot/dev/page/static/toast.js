// Short notes on top of everything; errors stay a little longer.
const box = document.getElementById("toasts");

export function toast(text, { error = false } = {}) {
  const note = document.createElement("div");
  note.className = error ? "toast error" : "toast";
  note.dataset.testid = "toast";
  const words = document.createElement("span");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "icon-btn";
  close.setAttribute("aria-label", "Dismiss");
  close.textContent = "×";
  close.addEventListener("click", () => drop(note));
  note.append(words, close);
  box.append(note);
  raise();
  setTimeout(() => drop(note), error ? 9000 : 3500);
}

// Hidden and shown again, so that it lies above a modal that opened since.
function raise() {
  if (box.matches(":popover-open")) box.hidePopover();
  const modal = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (box.parentElement !== (modal ?? document.body)) (modal ?? document.body).append(box);
  box.showPopover();
}

function drop(note) {
  note.remove();
  if (!box.childElementCount && box.matches(":popover-open")) box.hidePopover();
}

// What was said of one place means nothing in the next.
export function clearToasts() {
  for (const note of [...box.children]) drop(note);
}

export function rescueToasts(dialog) {
  if (!dialog.contains(box)) return;
  document.body.append(box);
  if (box.childElementCount) box.showPopover();
}
