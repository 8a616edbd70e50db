// Search in what this person sees, and the way to a channel by its name: Ctrl K.
import { localise, parse } from "./dom.js";
import { fragment, user } from "./server.js";
import { rescueToasts } from "./toast.js";

const dialog = document.getElementById("search");
const [box, results] = [dialog.querySelector("input"), dialog.querySelector("[data-results]")];
let latest = 0;

export function openSearch() {
  if (document.querySelector("dialog[open]")) return;
  dialog.showModal();
  box.select();
  find();
}

function closeSearch() {
  rescueToasts(dialog);
  dialog.close();
}

async function find() {
  const mine = ++latest;
  const html = await fragment("search", { user: user(), q: box.value.trim() });
  if (html === null || mine !== latest) return;
  results.replaceChildren(parse(html));
  localise(results);
}

box.addEventListener("input", find);

dialog.addEventListener("keydown", (event) => {
  const all = [box, ...results.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) all.at((all.indexOf(document.activeElement) + step) % all.length).focus();
  else if (event.key === "Escape") closeSearch(); // a search field would only empty itself
  else if (event.key === "Enter" && event.target === box) find().then(() => results.querySelector("a")?.click());
  else return;
  event.preventDefault();
});

dialog.addEventListener("click", (event) => event.target === dialog && closeSearch()); // beside it
results.addEventListener("click", (event) => event.target.closest("a") && closeSearch());
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  openSearch();
});
