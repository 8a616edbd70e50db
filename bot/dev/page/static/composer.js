// The message box: mentions, files, sending.
import { byTouch, icon } from "./dom.js";
import { say } from "./server.js";
import { clearToasts, toast } from "./toast.js";

const MARKS = { b: "*", i: "_", "shift x": "~", "shift c": "`" }; // as in Slack
const FILE_MAX = 100 * 1024 * 1024;

export class Composer {
  constructor(form, onSent) {
    this.form = form;
    this.onSent = onSent;
    this.channel = form.dataset.channel;
    this.thread = form.dataset.thread;
    this.text = form.querySelector("textarea");
    this.input = form.querySelector("input[type=file]");
    this.button = form.querySelector(".send");
    this.also = form.querySelector(".also input");
    this.files = [];
    form.composer = this;
    this.listen();
    this.showFiles();
  }

  listen() {
    const { form, text, input } = this;
    form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
    text.addEventListener("input", () => this.refresh());
    this.button.addEventListener("mousedown", (event) => event.preventDefault()); // a phone's keyboard stays
    text.addEventListener("keydown", (event) => this.key_(event));
    text.addEventListener("paste", (event) => {
      if (!event.clipboardData.files.length) return;
      event.preventDefault();
      this.attach(event.clipboardData.files);
    });
    input.addEventListener("change", () => { this.attach(input.files); input.value = ""; });
    this.acceptDrops(form.closest(".pane, .thread"));
  }

  acceptDrops(area) {
    area.ondragover = (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      this.form.classList.add("dragging");
    };
    area.ondragleave = (event) => { if (!area.contains(event.relatedTarget)) this.form.classList.remove("dragging"); };
    area.ondrop = (event) => {
      this.form.classList.remove("dragging");
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      this.attach(event.dataTransfer.files);
      this.text.focus();
    };
  }

  key_(event) {
    const mark = (event.ctrlKey || event.metaKey) && MARKS[`${event.shiftKey ? "shift " : ""}${event.key.toLowerCase()}`];
    if (mark) {
      event.preventDefault();
      return this.wrap(mark);
    }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !byTouch() && !this.inCode()) {
      event.preventDefault();
      this.send();
    }
  }

  // Return begins a new line in a block of code that is not closed yet.
  inCode() {
    return this.text.value.slice(0, this.text.selectionStart).split("```").length % 2 === 0;
  }

  fill(text, files = []) {
    this.text.value = text;
    if (files.length) this.files = [];
    this.attach(files);
    this.text.focus();
    this.text.setSelectionRange(text.length, text.length);
  }

  insert(text) {
    const { selectionStart: at, value } = this.text;
    const gap = at > 0 && !/\s$/.test(value.slice(0, at)) ? " " : "";
    this.text.focus();
    this.text.setRangeText(gap + text, at, this.text.selectionEnd, "end");
    this.refresh();
  }

  wrap(mark) {
    const { selectionStart: from, selectionEnd: to, value } = this.text;
    this.text.setRangeText(mark + value.slice(from, to) + mark, from, to, "end");
    this.text.setSelectionRange(from + mark.length, to + mark.length);
    this.refresh();
  }

  attach(files) {
    for (const file of files) {
      if (file.size > FILE_MAX) toast(`${file.name} is too large: 100 MB at most here.`, { error: true });
      else this.files.push(file);
    }
    this.showFiles();
  }

  showFiles() {
    this.form.querySelector("[data-attached]").replaceChildren(...this.files.map((file, i) => this.chip(file, i)));
    this.refresh();
  }

  refresh() {
    this.button.disabled = !this.text.value.trim() && !this.files.length;
    if (!CSS.supports("field-sizing", "content")) {
      this.text.style.height = "auto";
      this.text.style.height = `${this.text.scrollHeight}px`;
    }
  }

  chip(file, index) {
    const chip = document.createElement("span");
    const kind = (file.name.split(".").pop() ?? "").toLowerCase();
    chip.className = "attached-file";
    chip.dataset.testid = "attached-file";
    chip.innerHTML = `<span class="file-icon" aria-hidden="true"></span><span class="name"></span><button type="button" class="icon-btn">${icon("x")}</button>`;
    chip.querySelector(".file-icon").textContent = kind.toUpperCase().slice(0, 4);
    if (file.type.startsWith("image/")) chip.querySelector(".file-icon").replaceWith(thumbnail(file));
    if (/^[a-z]+$/.test(kind)) chip.querySelector(".file-icon")?.classList.add(`kind-${kind}`);
    chip.querySelector(".name").textContent = file.name;
    const remove = chip.querySelector("button");
    remove.setAttribute("aria-label", `Remove ${file.name}`);
    remove.addEventListener("click", () => { this.files.splice(index, 1); this.showFiles(); this.text.focus(); });
    return chip;
  }

  async send() {
    const [text, attached] = [this.text.value, this.files];
    if (!text.trim() && !attached.length) return;
    if (document.activeElement === this.button) this.text.focus();
    this.text.value = "";
    this.files = [];
    this.showFiles();
    const answer = await say({ channel: this.channel, text, thread: this.thread, files: attached, broadcast: this.also?.checked });
    if (answer) {
      if (this.also) this.also.checked = false; // for one message, as in Slack
      clearToasts(); // what was wrong before is right now
      return this.onSent(this, answer, text);
    }
    if (!this.text.value && this.form.isConnected) this.fill(text, attached);
  }
}

// Drawn small here: the page loads nothing but what its own server sends.
function thumbnail(file) {
  const canvas = document.createElement("canvas");
  canvas.className = "thumbnail";
  createImageBitmap(file, { resizeHeight: 88 }).then((bitmap) => {
    [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
  }, () => canvas.remove()); // no image, whatever its name says
  return canvas;
}
