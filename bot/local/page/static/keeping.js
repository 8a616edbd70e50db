// What the person opened, chose, typed or focused in a message lives on when it is drawn anew.

// → what gives the focus back, once the new message is in the page.
export function keep(old, fresh) {
  keepOpen(old, fresh);
  keepChosen(old, fresh);
  if (!old.querySelector(".more")) fresh.dataset.whole = "";
  fresh.classList.toggle("flash", old.classList.contains("flash"));
  const refocus = focusKeeper(old, fresh); // before the box moves, and loses it
  keepEdit(old, fresh);
  return refocus;
}

function keepOpen(old, fresh) {
  const path = (d) => [d.className, d.querySelector("summary")?.textContent.trim()].join("|");
  const were = new Map([...old.querySelectorAll("details")].map((d) => [path(d), d.open]));
  for (const details of fresh.querySelectorAll("details")) {
    if (were.has(path(details))) details.open = were.get(path(details));
  }
}

function keepChosen(old, fresh) {
  for (const field of fresh.querySelectorAll("select[data-action-id], input[data-action-id]")) {
    const before = old.querySelector(selectorOf(field));
    if (before && before.dataset.kind === field.dataset.kind && before.value) field.value = before.value;
  }
  for (const pressed of old.querySelectorAll("[data-feedback][aria-pressed=true]")) {
    const same = fresh.querySelector(`${selectorOf(pressed)}[data-value="${CSS.escape(pressed.dataset.value)}"]`);
    same?.setAttribute("aria-pressed", "true");
  }
}

function keepEdit(old, fresh) {
  const editing = old.querySelector(".edit-box");
  if (!editing) return;
  const content = fresh.querySelector("[data-content]");
  editing.behind = [...content.childNodes];
  content.replaceChildren(editing);
}

function focusKeeper(old, fresh) {
  const active = document.activeElement;
  if (!old.contains(active)) return () => {};
  const editing = old.querySelector(".edit-box");
  const path = focusedIn(old, active, editing);
  // A button that is gone leaves the keyboard on its message.
  const spare = !editing && active.matches(":focus-visible") ? fresh : null;
  return () => {
    const same = path === ":scope" ? fresh : path && fresh.querySelector(path);
    (same ?? spare)?.focus({ preventScroll: true });
  };
}

function focusedIn(old, active, editing) {
  if (editing?.contains(active)) return "textarea";
  if (old === active) return ":scope";
  return editing ? null : pathOf(active);
}

const selectorOf = (field) =>
  `[data-block-id="${CSS.escape(field.dataset.blockId)}"][data-action-id="${CSS.escape(field.dataset.actionId)}"]`;

function pathOf(element) {
  if (element.dataset.actionId) return selectorOf(element);
  if (element.dataset.do) return `[data-do="${element.dataset.do}"]${element.dataset.name ? `[data-name="${element.dataset.name}"]` : ""}`;
  return null;
}
