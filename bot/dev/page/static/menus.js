// Popup menus: one open at a time, placed by its button, worked by arrow keys, closed by Esc.
import { focusOn } from "./dom.js";

let open = null;

export function toggleMenu(button, menu, context = {}) {
  if (open?.button === button) return closeMenu();
  closeMenu();
  open = { button, menu, context };
  const host = button.closest("dialog") ?? null;
  if (host && !host.contains(menu)) host.append(menu);
  menu.showPopover();
  place(menu, button.getBoundingClientRect());
  button.setAttribute("aria-expanded", "true");
  items(menu)[0]?.focus();
}

export function closeMenu({ refocus = false } = {}) {
  if (!open) return;
  const { button, menu } = open;
  open = null;
  if (menu.matches(":popover-open")) menu.hidePopover();
  button.setAttribute("aria-expanded", "false");
  if (refocus) focusOn(button);
}

// → what the open menu is about; a message that was drawn anew meanwhile as it is now.
export function menuContext() {
  const message = open?.context.message;
  return message && !message.isConnected ? { ...open.context, message: document.getElementById(message.id) } : open?.context ?? null;
}

// Below the anchor if there is room, else above; never beyond the window's edge.
function place(menu, anchor) {
  const { width, height } = menu.getBoundingClientRect();
  const below = anchor.bottom + 4 + height <= innerHeight - 8 || anchor.top < height + 12;
  menu.style.top = `${Math.max(8, below ? anchor.bottom + 4 : anchor.top - height - 4)}px`;
  menu.style.left = `${Math.max(8, Math.min(anchor.left, innerWidth - width - 8))}px`;
}

const items = (menu) => [...menu.querySelectorAll("[role=menuitem]")].filter((item) => !item.hidden);

document.addEventListener("keydown", (event) => {
  if (!open) return;
  const list = items(open.menu);
  const at = list.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (to !== undefined) list.at(to % list.length)?.focus();
  else if (event.key === "Escape") closeMenu({ refocus: true });
  else if (event.key === "Tab") return closeMenu();
  else return;
  event.preventDefault();
  event.stopPropagation();
}, true);

document.addEventListener("pointerdown", (event) => {
  if (open && !open.menu.contains(event.target) && !open.button.contains(event.target)) closeMenu();
});
addEventListener("resize", () => closeMenu());

// Lists of checkboxes close like menus: by a press elsewhere, or by Esc without closing the modal.
const lists = () => document.querySelectorAll("details.multi[open]");

document.addEventListener("pointerdown", (event) => {
  for (const list of lists()) if (!list.contains(event.target)) list.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !lists().length) return;
  for (const list of lists()) {
    list.open = false;
    list.querySelector("summary").focus();
  }
  event.preventDefault();
  event.stopPropagation();
}, true);
