// The picker of reactions: all emoji that the page knows, found by their names.
import { parse } from "./dom.js";
import { emoji } from "./suggestions.js";

const picker = document.getElementById("emoji-picker");
const [search, grid] = [picker.querySelector("input"), picker.querySelector("[data-grid]")];

export function fillPicker() {
  search.value = "";
  show("");
}

function show(wanted) {
  const once = new Map(); // each by its first name
  for (const [name, character] of emoji) if (name.includes(wanted) && !once.has(character)) once.set(character, name);
  const buttons = [...once].map(([character, name]) => `<button type="button" role="menuitem" tabindex="-1" data-do="react-with" data-name="${name}" title=":${name}:" aria-label="${name}">${character}</button>`);
  grid.replaceChildren(parse(buttons.join("") || `<p class="muted">No emoji of that name.</p>`));
}

search.addEventListener("input", () => show(search.value.trim().toLowerCase().replaceAll(":", "")));
search.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  grid.querySelector("button")?.click();
});
