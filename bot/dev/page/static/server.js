// Requests to the page's own server. A failure becomes a toast and `null`.
import { toast } from "./toast.js";

export const user = () => document.body.dataset.user;

export async function fragment(name, at) {
  const answer = await request(`/page/${name}?${new URLSearchParams({ user: user(), ...at })}`);
  return answer && answer.text();
}

// → the decoded answer, or null when the action failed and a toast says why.
export async function act(what, details = {}) {
  return decoded(
    await request("/page/do", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ do: what, user: user(), ...details }),
    }),
  );
}

export async function say({ channel, text, thread, files = [] }) {
  const form = new FormData();
  for (const [key, value] of Object.entries({ user: user(), channel, text, thread_ts: thread })) form.append(key, value);
  for (const file of files) form.append("file", file, file.name);
  return decoded(await request("/page/say", { method: "POST", body: form }));
}

async function decoded(answer) {
  if (!answer) return null;
  const body = await answer.json();
  if (!body.error) return body;
  toast(body.error);
  return null;
}

async function request(url, options) {
  let answer;
  try {
    answer = await fetch(url, options);
  } catch {
    toast("away");
    return null;
  }
  if (answer.ok) return answer;
  toast(await reason(answer));
  return null;
}

async function reason(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return answer.status >= 500 ? "broken" : text;
  }
}
