// Small helpers around the document: fragments, local times, scrolling.

export const byId = (id) => document.getElementById(id);

export function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

export const icon = (name) => `<svg class="icon" aria-hidden="true"><use href="#i-${name}"/></svg>`;

// Fill in every <time data-ts> in the reader's own time zone, and the language that they have chosen.
export function localise(root) {
  const language = byId("language")?.value || [];
  for (const time of root.querySelectorAll("time[data-ts]")) {
    const date = new Date(Number(time.dataset.ts) * 1000);
    const isToday = date.toDateString() === new Date().toDateString();
    time.dateTime = date.toISOString();
    time.title = date.toLocaleString(language);
    time.textContent = date.toLocaleString(language, { timeStyle: "short", ...(!isToday && { dateStyle: "medium" }) });
  }
}

export const atBottom = (scroller) => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;

export function toBottom(scroller) {
  scroller.scrollTop = scroller.scrollHeight;
}

// A reader at the newest message stays there when the composer below grows or a thread opens beside it.
export const keepAtBottom = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target.isAtBottom ?? true) toBottom(target);
});

document.addEventListener("scroll", ({ target }) => { target.isAtBottom = atBottom(target); }, { capture: true, passive: true });
