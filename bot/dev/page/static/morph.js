// Changes an element into a newly rendered one in place. Nodes that stay the same are not touched, so
// that a selection, the focus, open details and a typed draft survive while an answer is streamed.

export function morph(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.nodeName === "svg") {
    if (!old.isEqualNode(fresh)) old.replaceWith(fresh);
  } else if (old.nodeType === Node.ELEMENT_NODE) {
    if (old.matches("form.composer")) return; // holds a draft
    morphAttributes(old, fresh);
    morphChildren(old, fresh);
  } else if (old.data !== fresh.data) old.data = fresh.data;
}

// Child nodes are matched by position; those that the page added itself (data-local) are skipped.
export function morphChildren(old, fresh) {
  const before = [...old.childNodes].filter((node) => node.dataset?.local === undefined);
  const after = [...fresh.childNodes];
  after.forEach((child, i) => (before[i] ? morph(before[i], child) : old.append(child)));
  for (const node of before.slice(after.length)) node.remove();
}

// Attributes that the person or the page's script sets, and where they are kept.
const KEPT = { "aria-busy": "*", "aria-pressed": "[data-feedback]", hidden: "[data-content]", open: "details" };

function morphAttributes(old, fresh) {
  const isKept = (name) => name in KEPT && old.matches(KEPT[name]);
  if (fresh.open && fresh.className !== old.className) old.open = true; // a task failed meanwhile
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isKept(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (!isKept(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}
