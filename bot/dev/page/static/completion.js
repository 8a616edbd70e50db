// The list from which a box for text is completed: people, channels, emoji and commands.
import { place } from "./menus.js";
import { suggestions } from "./suggestions.js";

let lists = 0;

export class Completion {
  // `onChange` is told of text that was put in; `commands` says whether the box takes them.
  constructor(text, { commands = false, onChange = () => {} } = {}) {
    Object.assign(this, { text, commands, onChange, options: [], list: listFor(text) });
    text.addEventListener("input", () => this.suggest());
    text.addEventListener("blur", () => setTimeout(() => document.activeElement === text || this.close(), 120));
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const option = event.target.closest("[role=option]");
      if (option) this.choose(Number(option.dataset.index));
    });
  }

  // → whether the key was for the list.
  key(event) {
    if (!this.options.length) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.mark((this.marked + step + this.options.length) % this.options.length);
    else if ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab") this.choose(this.marked);
    else if (event.key === "Escape") { event.stopPropagation(); this.close(); }
    else return false;
    event.preventDefault();
    return true;
  }

  suggest() {
    const found = suggestions(this.text.value.slice(0, this.text.selectionStart), this);
    found ? this.offer(found.options, found.replaces) : this.close();
  }

  offer(options, replaces) {
    Object.assign(this, { options, replaces });
    this.list.replaceChildren(...options.map((option, i) => this.row(option, i)));
    if (!this.list.matches(":popover-open")) this.list.showPopover();
    const box = (this.text.closest("form.composer") ?? this.text).getBoundingClientRect();
    place(this.list, { top: box.top, bottom: innerHeight, left: box.left + 8 });
    this.mark(0);
  }

  row(option, index) {
    const row = document.createElement("div");
    row.role = "option";
    row.id = `${this.list.id}-${index}`;
    row.dataset.index = index;
    const [name, note] = [document.createElement("span"), document.createElement("span")];
    name.textContent = option.label;
    note.textContent = option.note;
    note.className = "end";
    row.append(name, note);
    return row;
  }

  mark(index) {
    this.marked = index;
    [...this.list.children].forEach((row, i) => row.setAttribute("aria-selected", String(i === index)));
    this.list.children[index]?.scrollIntoView({ block: "nearest" });
    this.text.setAttribute("aria-activedescendant", `${this.list.id}-${index}`);
  }

  choose(index) {
    const at = this.text.selectionStart;
    this.text.setRangeText(this.options[index].text, at - this.replaces, at, "end");
    this.close();
    this.onChange();
  }

  close() {
    this.options = [];
    if (this.list.isConnected && this.list.matches(":popover-open")) this.list.hidePopover();
    this.text.removeAttribute("aria-activedescendant");
  }
}

// Beside the box, as what lies outside of an open dialog takes no press.
function listFor(text) {
  const list = document.createElement("div");
  Object.assign(list, { id: `options-${++lists}`, className: "options menu", role: "listbox", popover: "manual", ariaLabel: "Suggestions" });
  list.dataset.local = "";
  text.after(list);
  const ways = { "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-controls": list.id };
  for (const [name, value] of Object.entries(ways)) text.setAttribute(name, value);
  return list;
}
