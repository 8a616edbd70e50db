// Requests to the page's own server. Failures become a toast and `null`.
import { toast } from "./toast.js";

export const user = () => document.body.dataset.user;

// Of this window, also after a reload.
export const ownName = sessionStorage.getItem("window") ?? String(Math.random());
sessionStorage.setItem("window", ownName);

// Up to which change of the workspace the oldest part of the screen was drawn.
export const drawn = { changes: Number(document.body.dataset.changes) };

export async function fragment(name, at) {
  const answer = await request(`/page/${name}?${new URLSearchParams(at)}`);
  if (!answer) return null;
  if (name === "pane" || name === "thread") drawn.changes = Math.min(drawn.changes, Number(answer.headers.get("X-Changes")));
  return answer.text();
}

// → the decoded answer, or null when it failed and the person has been told.
export async function act(what, details = {}) {
  return decoded(
    await request("/page/do", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ do: what, user: user(), window: ownName, ...details }),
    }),
  );
}

export async function say({ channel, text, thread, files = [], broadcast = false }) {
  const form = new FormData();
  for (const [key, value] of Object.entries({ user: user(), channel, text, thread_ts: thread, broadcast, window: ownName })) form.append(key, value);
  for (const file of files) form.append("file", file, file.name);
  return decoded(await request("/page/say", { method: "POST", body: form }));
}

async function decoded(answer) {
  if (!answer) return null;
  const body = await answer.json();
  if (!body.error) return body;
  toast(body.error, { error: true });
  return null;
}

let waiting = 0; // requests that are not answered yet

async function request(url, options) {
  let answer;
  document.body.classList.toggle("waiting", ++waiting > 0);
  try {
    answer = await fetch(url, options);
  } catch {
    toast("The local workspace does not answer. Is it still running?", { error: true });
    return null;
  } finally {
    document.body.classList.toggle("waiting", --waiting > 0);
  }
  if (answer.ok) return answer;
  toast(await reason(answer), { error: true });
  return null;
}

async function reason(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return answer.status >= 500 ? "The local workspace ran into an error. Its log says more." : text;
  }
}
