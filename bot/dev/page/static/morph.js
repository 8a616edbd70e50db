// A message as it is now, made of the one that is there: what stays the same is not touched, so that
// a selection, the focus, a press that is under way and what the person opened or chose live on.

// Makes `old` what `fresh` is; takes `fresh` apart for it. What the page itself added (data-local) stays.
export function morph(old, fresh) {
  const watched = old.contains(document.activeElement) && document.activeElement.matches(":focus-visible");
  morphElement(old, fresh);
  // What had the focus is gone: the keyboard stays on the message.
  if (watched && !old.contains(document.activeElement)) old.focus({ preventScroll: true });
}

function morphElement(old, fresh) {
  if (isTableAsBefore(old, fresh) || old.matches(WRITTEN)) return;
  if (old.tagName === "svg" && !old.isEqualNode(fresh)) return old.replaceWith(fresh);
  morphAttributes(old, fresh);
  morphChildren(old, fresh);
}

// Sorted and turned as the person left it.
const isTableAsBefore = (old, fresh) => "table" in old.dataset && rowsOf(old) === rowsOf(fresh);
const rowsOf = (box) => [...box.querySelectorAll("tr")].map((row) => row.textContent).sort().join("\n");

const WRITTEN = ".composer textarea, .composer .send, [data-attached]"; // what somebody is about to send
const OF_PAGE = ["grouped", "flash", "folded"]; // classes
const KEPT = { // attributes, and where
  "aria-busy": "*", "aria-pressed": "[data-feedback]", "data-whole": ".msg", hidden: "[data-content]", open: "details", tabindex: ".msg",
};

function morphAttributes(old, fresh) {
  const news = fresh.getAttribute("class") ?? "";
  if (old.tagName === "DETAILS" && news !== old.className && fresh.open) old.open = true; // failed meanwhile
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isKept(old, name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (!isKept(old, name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const all = [news, ...OF_PAGE.filter((name) => old.classList.contains(name))].join(" ").trim();
  if (all !== (old.getAttribute("class") ?? "")) old.setAttribute("class", all);
}

const isKept = (element, name) => name === "class" || (name in KEPT && element.matches(KEPT[name]));

export function morphChildren(old, fresh) {
  let at = afterLocal(old.firstChild);
  for (const child of [...fresh.childNodes]) {
    const found = child.nodeType === Node.TEXT_NODE ? ifText(at) : next(at, (node) => isSame(node, child));
    if (!found) {
      old.insertBefore(child, at);
      continue;
    }
    while (at !== found) at = passed(at);
    at = afterLocal(found.nextSibling);
    if (child.nodeType === Node.ELEMENT_NODE) morphElement(found, child);
    else if (found.data !== child.data) morphText(found, child.data);
  }
  while (at) at = passed(at);
}

// What was not found again goes, with what the page added after it. → the node that follows.
function passed(node) {
  const after = afterLocal(node.nextSibling);
  while (node.nextSibling !== after) node.nextSibling.remove();
  node.remove();
  return after;
}

function next(node, fits) {
  for (let at = node; at; at = afterLocal(at.nextSibling)) if (fits(at)) return at;
  return null;
}

const ifText = (node) => (node?.nodeType === Node.TEXT_NODE ? node : null); // no further: each gap has one

function afterLocal(node) {
  while (node?.dataset?.local !== undefined) node = node.nextSibling;
  return node;
}

const isSame = (a, b) => a.nodeName === b.nodeName && (a.nodeType !== Node.ELEMENT_NODE || nameOf(a) === nameOf(b));

function nameOf({ id, dataset: { actionId, value, name, testid }, classList }) {
  if (actionId) return `${actionId}/${value}`;
  return id || name || testid || (classList.contains("block") ? classList[1] : "");
}

// Only the part that differs, so that a selection in the rest stays.
function morphText(node, text) {
  const { data } = node;
  const most = Math.min(data.length, text.length);
  let head = 0;
  while (head < most && data[head] === text[head]) head += 1;
  let tail = 0;
  while (tail < most - head && data.at(-1 - tail) === text.at(-1 - tail)) tail += 1;
  node.replaceData(head, data.length - head - tail, text.slice(head, text.length - tail));
}
