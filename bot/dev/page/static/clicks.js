// What each button and field of the page does, by its data-do.
import { byId, parse } from "./dom.js";
import { valueOf, valuesIn } from "./fields.js";
import { menuButton, menuMessage, openMenu } from "./menus.js";
import { closeModal, confirmed } from "./modals.js";
import { go, place } from "./place.js";
import { act } from "./server.js";
import { closeStep, openStep } from "./steps.js";

const messageOf = (element) => element.closest(".msg");
const where = (message) => ({ channel: message.dataset.channel, ts: message.dataset.ts });
const composerOf = (element) => element.closest(".foot, .pane").querySelector("form.composer")?.composer;
const inView = (view) => ({ view_id: view.dataset.viewId, ...(view.matches("dialog") ? { values: valuesIn(view) } : {}) });
const botName = () => document.body.dataset.botName;

export const clicks = {
  async open(link) {
    if ("agent" in link.dataset) await act("home", { tab: "messages" });
    go({ channel: link.dataset.channelLink, thread: "", tab: "messages" });
    for (const beside of document.querySelectorAll("[data-change=beside]")) beside.value = ""; // opened by itself
  },
  async tab(button) {
    await act("home", { tab: button.dataset.tab });
    go({ tab: button.dataset.tab, thread: "" });
  },
  thread: (button) => go({ thread: button.dataset.thread ?? messageOf(button).dataset.ts }),
  "close-thread": () => go({ thread: "" }),
  react: (button) => act("react", { ...where(messageOf(button)), name: button.dataset.name }),
  "message-menu"(button) {
    const menu = byId("message-menu");
    for (const item of menu.querySelectorAll("[data-needs]")) item.hidden = !(item.dataset.needs in button.dataset);
    openMenu(button, menu, messageOf(button));
  },
  "global-menu": (button) => openMenu(button, byId("global-menu")),
  overflow: (button) => openMenu(button, button.nextElementSibling),
  edit: () => startEdit(menuMessage()),
  async delete() {
    const message = menuMessage();
    if (await confirmed({ title: "Delete this message?", confirm: "Delete", style: "danger" })) act("delete", where(message));
  },
  shortcut(button) {
    const message = button.closest("#message-menu") && menuMessage();
    act("shortcut", { callback_id: button.dataset.callback, ...(message ? where(message) : {}) });
  },
  async click(button) {
    if (button.ariaBusy === "true") return;
    if (button.dataset.confirm && !(await confirmed(JSON.parse(button.dataset.confirm)))) return;
    if ("feedback" in button.dataset) {
      for (const other of button.parentElement.children) other.ariaPressed = String(other === button);
    }
    await dispatch(button, button.dataset.value || null);
  },
  stop: (button) => act("stop", { channel: button.dataset.channel, thread_ts: button.dataset.thread }),
  mention: (button) => composerOf(button).fill(`${composerOf(button).text.value}@${botName()} `),
  async example(button) {
    const mention = place.shown.channel.startsWith("D") ? "" : `@${botName()} `;
    const files = button.dataset.sample ? [await sample(button.dataset.sample)] : [];
    composerOf(button).fill(mention + button.dataset.text, files);
  },
  samples: (button) => openMenu(button, byId("samples-menu")),
  async sample(item) {
    const composer = composerOf(menuButton());
    composer.attach([await sample(item.dataset.sample)]);
    composer.text.focus();
  },
  "open-step": openStep,
  "close-step": closeStep,
  "close-modal": (button) => closeModal(button.closest("dialog")),
};

async function sample(name) {
  const answer = await fetch(`/page/static/samples/${name}`);
  const content = await answer.blob();
  return new File([content], name, { type: content.type });
}

export async function changed(field) {
  if (!("dispatch" in field.dataset)) return;
  const value = valueOf(field);
  if (value !== null) await dispatch(field, value);
}

async function dispatch(field, value) {
  const details = { action_id: field.dataset.actionId, block_id: field.dataset.blockId, value };
  const view = field.closest("[data-view-id]");
  field.ariaBusy = "true";
  await act("click", { ...details, ...(view ? inView(view) : where(messageOf(field))) });
  field.ariaBusy = null;
}

function startEdit(message) {
  const content = message.querySelector("[data-content]");
  const box = parse(`<form class="edit-box" data-local><textarea class="control" dir="auto" aria-label="Edit message"></textarea><div class="row"><button type="button" class="btn">Cancel</button><button type="submit" class="btn primary">Save</button></div></form>`).firstElementChild;
  const text = box.querySelector("textarea");
  text.value = content.dataset.typed;
  const stop = () => {
    box.remove();
    content.hidden = false;
  };
  box.querySelector("[type=button]").addEventListener("click", stop);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") stop();
    if (event.key === "Enter" && !event.shiftKey && event.target === text) {
      event.preventDefault();
      box.requestSubmit();
    }
  });
  box.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await act("edit", { ...where(message), text: text.value })) stop();
  });
  content.hidden = true;
  content.after(box);
  text.focus();
}
