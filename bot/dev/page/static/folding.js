// Long texts are shown in part, with a button for the rest, as Slack does.
const TALL = 800; // px; what is lower is shown whole
const unfolded = new Set(); // the texts that the person opened

const texts = (root) => [...root.querySelectorAll(".msg .content :is(.text, .md)")];

function keyOf(text) {
  const message = text.closest(".msg");
  return `${message.dataset.channel}/${message.dataset.ts}/${texts(message).indexOf(text)}`;
}

// What somebody watches as it is written is whole, and stays so.
export function fold(root) {
  for (const text of texts(root)) {
    const has = text.nextElementSibling?.matches(".more");
    const tall = text.scrollHeight > TALL && !text.closest(".streaming, [data-whole]");
    if (tall && !has) text.insertAdjacentHTML("afterend", `<button type="button" class="more" data-do="unfold" data-testid="more" data-local></button>`);
    if (tall) show(text, unfolded.has(keyOf(text)));
    else if (has) unfold(text);
  }
}

function unfold(text) {
  text.classList.remove("folded");
  text.nextElementSibling.remove();
}

function show(text, whole) {
  text.classList.toggle("folded", !whole);
  text.nextElementSibling.textContent = whole ? "Show less" : "Show more";
  text.nextElementSibling.ariaExpanded = String(whole);
}

export function toggleFold(more) {
  const text = more.previousElementSibling;
  const whole = text.classList.contains("folded");
  const before = more.getBoundingClientRect().top;
  unfolded[whole ? "add" : "delete"](keyOf(text));
  show(text, whole);
  // Folded again, its button stays under the pointer.
  if (!whole) more.closest(".scroller").scrollTop += more.getBoundingClientRect().top - before;
}

// The browser scrolls within a folded text to show what Find or the keyboard has reached in there.
document.addEventListener("scroll", ({ target }) => {
  if (!target.classList?.contains("folded") || !target.scrollTop) return;
  const within = target.scrollTop;
  toggleFold(target.nextElementSibling);
  target.closest(".scroller").scrollTop += within;
}, true);
