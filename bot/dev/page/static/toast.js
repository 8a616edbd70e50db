// Short notes on top of everything: what could not be done, and why.
const box = document.getElementById("toasts");

// `text` is a sentence, or the name of one of the page's own in the language of the person.
export function toast(text, name = "") {
  const note = document.createElement("div");
  note.className = "toast";
  note.dataset.testid = "toast";
  note.textContent = (box.dataset[text] ?? text).replace("{name}", name);
  box.append(note);
  if (box.matches(":popover-open")) box.hidePopover(); // shown again it lies above a modal that opened since
  box.showPopover();
  setTimeout(() => note.remove(), 9000);
}

export function clearToasts() {
  box.replaceChildren();
}
