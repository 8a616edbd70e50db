// Popup menus: one at a time, placed beside its button. The browser closes it on Esc and on a press elsewhere.

let open = null; // { button, message }

export function openMenu(button, menu, message = null) {
  open = { button, message };
  menu.showPopover();
  place(menu, button.getBoundingClientRect());
  menu.querySelector("button:not([hidden])")?.focus();
}

export const menuButton = () => open.button;

// → the message that the open menu belongs to. A stream may have replaced its element meanwhile.
export const menuMessage = () => (open?.message ? document.getElementById(open.message.id) : null);

// Below the button if there is room, else above; never beyond the window's edge.
function place(menu, anchor) {
  const { width, height } = menu.getBoundingClientRect();
  const below = anchor.bottom + 4 + height <= innerHeight - 8 || anchor.top < height + 12;
  menu.style.top = `${Math.max(8, below ? anchor.bottom + 4 : anchor.top - height - 4)}px`;
  menu.style.left = `${Math.max(8, Math.min(anchor.left, innerWidth - width - 8))}px`;
}
