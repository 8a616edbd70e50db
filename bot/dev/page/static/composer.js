// The message box: text, files, sending.
import { icon } from "./dom.js";
import { say } from "./server.js";
import { clearToasts, toast } from "./toast.js";

const FILE_MAX = 100 * 1024 * 1024; // bytes

export class Composer {
  constructor(form, onSent) {
    this.form = form;
    this.onSent = onSent;
    this.channel = form.dataset.channel;
    this.thread = form.dataset.thread;
    this.text = form.querySelector("textarea");
    this.input = form.querySelector("input[type=file]");
    this.files = [];
    this.filledIn = []; // those of `files` that came with a suggestion
    form.composer = this;
    form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
    this.text.addEventListener("input", () => this.refresh());
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.send();
    });
    this.input.addEventListener("change", () => { this.attach(this.input.files); this.input.value = ""; });
    this.refresh();
  }

  // Put text in the box, and files in place of those that the last suggestion brought.
  fill(text, files = this.filledIn) {
    this.text.value = text;
    this.files = this.files.filter((file) => !this.filledIn.includes(file));
    this.filledIn = files;
    this.attach(files);
    this.text.focus();
  }

  attach(files) {
    for (const file of files) {
      if (file.size > FILE_MAX) toast("large", file.name);
      else this.files.push(file);
    }
    this.refresh();
  }

  refresh() {
    this.form.querySelector("[data-attached]").replaceChildren(...this.files.map((file) => this.chip(file)));
    this.form.querySelector(".send").disabled = !this.text.value.trim() && !this.files.length;
  }

  chip(file) {
    const chip = document.createElement("span");
    chip.className = "chip";
    chip.dataset.testid = "attached-file";
    chip.innerHTML = `${icon("paperclip")}<span></span><button type="button" class="icon-btn">${icon("x")}</button>`;
    chip.querySelector("span").textContent = file.name;
    const remove = chip.querySelector("button");
    remove.setAttribute("aria-label", `Remove ${file.name}`);
    remove.addEventListener("click", () => { this.files = this.files.filter((each) => each !== file); this.refresh(); });
    return chip;
  }

  // What could not be sent comes back into the box.
  async send() {
    const [text, attached] = [this.text.value, this.files];
    if (!text.trim() && !attached.length) return;
    this.text.value = "";
    this.files = [];
    this.refresh();
    clearToasts();
    const answer = await say({ channel: this.channel, text, thread: this.thread, files: attached });
    if (answer) this.onSent(this, answer, text);
    else if (!this.text.value && this.form.isConnected) this.fill(text, attached);
  }
}
