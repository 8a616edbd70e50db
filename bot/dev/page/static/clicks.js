// What each button, link and field of the page does, by its data-do.
import { say as announce } from "./announcer.js";
import { arrange, byId, byTouch, parse } from "./dom.js";
import { valueOf } from "./fields.js";
import { toggleFold } from "./folding.js";
import { toggleMenu } from "./menus.js";
import { closeModal, confirmed } from "./modals.js";
import { app, closeThread, go, pane, place, showSidebar, thread } from "./place.js";
import { act, say } from "./server.js";
import { closeStep, openStep } from "./steps.js";
import { sortBy, turnPage } from "./tables.js";
import { toast } from "./toast.js";

const messageOf = (element) => element.closest(".msg");
const where = (message) => ({ channel: message.dataset.channel, ts: message.dataset.ts });
const composerOf = (element) => element.closest(".foot, .pane")?.querySelector("form.composer")?.composer;

export const clicks = {
  async open(link) {
    showSidebar(false); // also when it is the channel one is in
    if ("agent" in link.dataset) await act("home", { tab: "messages" });
    go({ channel: link.dataset.channelLink, thread: "", tab: "messages" });
    for (const beside of pane.querySelectorAll("[data-change=beside]")) beside.value = ""; // opened by itself
  },
  async tab(button) {
    await act("home", { tab: button.dataset.tab });
    go({ tab: button.dataset.tab, thread: "" }).then(() => document.activeElement === document.body && pane.querySelector("[role=tab][aria-selected=true]").focus());
  },
  skip: () => (thread.hidden || thread.role !== "main" ? pane : thread).focus(),
  sidebar: () => showSidebar(!app.classList.contains("side-open")),
  "dismiss-notice"(button) {
    sessionStorage.setItem("notice", "read");
    button.closest(".notice").remove();
  },
  thread: (button, context) => go({ thread: (context?.message ?? messageOf(button)).dataset.ts }),
  "thread-of": (button) => go({ thread: button.dataset.thread }),
  "close-thread": () => closeThread(),
  react: (button) => act("react", { ...where(messageOf(button)), name: button.dataset.name }),
  "react-with": (button, { message }) => act("react", { ...where(message), name: button.dataset.name }),
  dismiss: (button) => { const list = messageOf(button).parentElement; messageOf(button).remove(); arrange(list); },
  menu: (button) => toggleMenu(button, button.nextElementSibling),
  "message-menu"(button) {
    const offered = itemsFor(button);
    for (const item of items()) item.hidden = !offered.includes(item);
    toggleMenu(button, byId("message-menu"), { message: messageOf(button) });
  },
  "global-menu": (button) => toggleMenu(button, byId("global-menu")),
  async "copy-text"(_, { message }) {
    await navigator.clipboard.writeText(message.querySelector("[data-content]").innerText);
    toast("Text copied");
  },
  async "copy-link"(_, { message }) {
    await navigator.clipboard.writeText(message.querySelector(".when").href); // Slack's own form, which the agent reads
    toast("Link copied");
  },
  pin: async (_, { message }) => (await act("pin", where(message))) && announce("Pinned"),
  unpin: async (_, { message }) => (await act("unpin", where(message))) && announce("Not pinned any more"),
  edit: (_, { message, back }) => startEdit(message, back),
  async delete(_, { message }) {
    const sure = await confirmed({ title: "Delete this message?", text: message.querySelector("[data-content]").innerText.replace(/ \(edited\)$/, "").slice(0, 200), confirm: "Delete", style: "danger" });
    message.focus({ preventScroll: true }); // the menu that had it is closed
    if (sure) act("delete", where(message));
  },
  shortcut(button, context) {
    place.asking = context?.message?.closest(".scroller").id ?? "";
    act("shortcut", { callback_id: button.dataset.callback, ...(context?.message ? where(context.message) : {}) });
  },
  click: (button) => press(button),
  unfold: toggleFold,
  sort: sortBy,
  page: turnPage,
  stop: (button) => { button.disabled = true; act("stop", { channel: button.dataset.channel, thread_ts: button.dataset.thread }); },
  async prompt(chip) {
    composerOf(chip).text.focus({ preventScroll: true }); // so that Enter does not send it again
    const answer = await say({ channel: place.shown.channel, text: chip.dataset.text, thread: chip.closest("[data-prompts]").dataset.prompts.split(":")[1] });
    if (answer?.ts) place.asked.add(answer.ts);
  },
  mention: (button) => composerOf(button).insert(`@${document.body.dataset.botName} `),
  async sample(button) { composerOf(button).attach([await sample(button.dataset.sample)]); composerOf(button).text.focus(); },
  async example(button) {
    const mention = place.shown.channel.startsWith("D") ? "" : `@${document.body.dataset.botName} `;
    const files = button.dataset.sample ? [await sample(button.dataset.sample)] : [];
    composerOf(button).fill(mention + button.dataset.text, files);
  },
  "open-step": openStep,
  "close-step": closeStep,
  "close-modal": (button) => closeModal(button.closest("dialog")),
};

const items = () => [...byId("message-menu").querySelectorAll("[role=menuitem]")];

// What the menu of a message, which `button` opens, offers for it.
export function itemsFor(button) {
  const has = new Set([...Object.keys(button.dataset), isPinned(messageOf(button)) ? "pinned" : "loose"]);
  if (byTouch()) has.add("touch").add(messageOf(button).querySelector("[data-do=thread]") ? "touch-channel" : "touch-thread");
  return items().filter(({ dataset: { needs } }) => !needs || has.has(needs));
}

const isPinned = ({ dataset: { ts } }) => pane.querySelector(`[data-pinned="${ts}"]`) !== null;

async function sample(name) {
  const answer = await fetch(`/page/static/samples/${name}`);
  return new File([await answer.blob()], name, { type: "text/csv" });
}

async function press(button) {
  if (button.ariaBusy === "true") return;
  if (button.dataset.confirm && !(await confirmed(JSON.parse(button.dataset.confirm)))) return;
  if ("feedback" in button.dataset) {
    for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button));
  }
  button.ariaBusy = "true";
  const list = messageOf(button)?.closest(".scroller").id;
  if (list && !("feedback" in button.dataset)) place.awaited.add(list);
  await dispatch(button, button.dataset.value || null);
  button.removeAttribute("aria-busy");
}

function dispatch(field, value) {
  const details = { action_id: field.dataset.actionId, block_id: field.dataset.blockId, value };
  const view = field.closest("[data-view-id]");
  const message = messageOf(field);
  return act("click", view ? { ...details, view_id: view.dataset.viewId } : { ...details, ...where(message) });
}

export async function changed(field) {
  if (!("dispatch" in field.dataset)) return;
  if (field.dataset.confirm && !(await confirmed(JSON.parse(field.dataset.confirm)))) return;
  const value = valueOf(field);
  if (value === null) return;
  field.ariaBusy = "true";
  await dispatch(field, value);
  field.removeAttribute("aria-busy");
}

// The focus goes `back` when it is over, or to the message.
function startEdit(message, back) {
  const content = message.querySelector("[data-content]");
  const box = parse(`<form class="edit-box" data-local><textarea class="control" dir="auto" aria-label="Edit message"></textarea><div class="row"><button type="button" class="btn">Cancel</button><button type="submit" class="btn primary">Save</button></div></form>`).firstElementChild;
  const text = box.querySelector("textarea");
  text.value = content.dataset.typed;
  const stop = () => {
    box.remove();
    content.hidden = false;
    (back ?? message).focus();
  };
  box.querySelector("[type=button]").addEventListener("click", stop);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); stop(); }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target === text && !byTouch()) { event.preventDefault(); box.requestSubmit(); }
  });
  box.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!text.value.trim() && !message.querySelector(".files")) {
      stop();
      return clicks.delete(null, { message }); // nothing would be left of it
    }
    const answer = await act("edit", { ...where(message), text: text.value });
    if (answer && box.isConnected) stop();
  });
  content.hidden = true;
  content.after(box);
  text.focus();
  box.scrollIntoView({ block: "nearest" });
}
