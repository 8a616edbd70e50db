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

// Show the end of a list, or the beginning of its newest message if that is taller than what is in sight.
export function toNewest(scroller) {
  const newest = scroller.querySelector("[data-messages] > .msg:last-child");
  const above = newest ? newest.getBoundingClientRect().top - scroller.getBoundingClientRect().top : Infinity;
  scroller.scrollTop = Math.min(scroller.scrollHeight - scroller.clientHeight, scroller.scrollTop + above);
}

// A reader at the newest message stays there when the composer below grows or a thread opens beside it.
export const keepAtBottom = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target.isAtBottom ?? true) toNewest(target);
});

document.addEventListener("scroll", ({ target }) => { target.isAtBottom = atBottom(target); }, { capture: true, passive: true });
