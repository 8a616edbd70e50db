// What the composer completes: people after "@", channels after "#", emoji after ":", and commands.
const given = JSON.parse(document.getElementById("suggestions").textContent);
const MOST = 12;

export const emoji = given.emoji; // [[name, character], …]

// → { options: [{ label, note, text }], replaces: how many characters before the cursor } or null.
export function suggestions(before, { commands }) {
  for (const [pattern, find] of commands ? [...KINDS, [/^(\/\S*)$/, fittingCommands]] : KINDS) {
    const typed = pattern.exec(before);
    const options = typed ? find(typed[1].toLowerCase()) : [];
    if (options.length) return { options, replaces: before.length - typed.index - typed[0].search(/[@#:/]/) };
  }
  return null;
}

const KINDS = [
  [/(?:^|[\s(])@([^\s@]*(?: [^\s@]*)?)$/, people],
  [/(?:^|[\s(])#([^\s#]*)$/, rooms],
  [/(?:^|[\s(]):([a-z0-9_+-]{2,})$/i, fittingEmoji],
];

const CALLS = [["here", "everybody who is here now"], ["channel", "everybody in the channel"]];

// The agent, and those one can be.
function people(wanted) {
  const fits = (name) => name.toLowerCase().startsWith(wanted) || name.toLowerCase().split(" ").some((word) => word.startsWith(wanted));
  const named = everyone().filter(({ name }) => fits(name)).map(({ name, note }) => ({ label: name, note, text: `@${name} ` }));
  const calls = CALLS.filter(([name]) => name.startsWith(wanted)).map(([name, note]) => ({ label: `@${name}`, note, text: `@${name} ` }));
  return [...named, ...calls];
}

const everyone = () => [{ name: document.body.dataset.botName, note: "agent" }, ...[...document.querySelectorAll("#act-as option")].map(({ dataset }) => dataset)];

// Those in the sidebar: the ones that this person sees. A whole name needs no completion, and Enter sends.
function rooms(wanted) {
  const names = [...document.querySelectorAll("#sidebar [data-room]")].map((link) => link.dataset.room);
  if (names.includes(wanted)) return [];
  return names.filter((name) => name.includes(wanted)).map((name) => ({ label: `#${name}`, note: "", text: `#${name} ` }));
}

function fittingEmoji(wanted) {
  const found = emoji.filter(([name]) => name.includes(wanted));
  found.sort(([a], [b]) => b.startsWith(wanted) - a.startsWith(wanted));
  return found.slice(0, MOST).map(([name, character]) => ({ label: `${character}  :${name}:`, note: "", text: `:${name}: ` }));
}

function fittingCommands(typed) {
  return given.commands
    .filter((one) => one.command.startsWith(typed) && one.command !== typed)
    .map((one) => ({ label: `${one.command} ${one.usage_hint ?? ""}`.trim(), note: one.description ?? "", text: `${one.command} ` }));
}
