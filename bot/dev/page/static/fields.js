// Values of interactive elements: what a field holds, and multi-select labels.

const many = (field) => [...field.querySelectorAll("input:checked")].map((input) => input.value);

// A string, a list for elements that hold several, a number of seconds for a point in time, or null.
export function valueOf(field) {
  const kind = field.dataset.kind;
  if (kind === "checkboxes" || kind.startsWith("multi_")) return many(field);
  if (kind === "radio_buttons") return many(field)[0] ?? null;
  if (kind === "datetimepicker") return field.value ? Math.round(new Date(field.value) / 1000) : null;
  return field.value === "" ? null : field.value;
}

// What Slack calls the value of each kind, where it is not just "value".
const KEYS = {
  static_select: "selected_option", external_select: "selected_option", radio_buttons: "selected_option",
  users_select: "selected_user", conversations_select: "selected_conversation", channels_select: "selected_channel",
  datepicker: "selected_date", timepicker: "selected_time", datetimepicker: "selected_date_time",
};

// {block_id: {action_id: value}}; a field left or made empty says so, or its initial value would count.
export function valuesIn(form) {
  const values = {};
  for (const field of form.querySelectorAll("[data-action-id][data-kind]:not([data-do])")) {
    const { blockId, actionId, kind } = field.dataset;
    (values[blockId] ??= {})[actionId] = valueOf(field) ?? { [KEYS[kind] ?? "value"]: null };
  }
  return values;
}

export function label(multi) {
  const chosen = [...multi.querySelectorAll("input:checked")].map((i) => i.parentElement.textContent.trim());
  const summary = multi.querySelector("summary");
  summary.querySelector("[data-summary]").textContent = chosen.join(", ") || multi.dataset.placeholder;
  summary.ariaLabel = `${summary.dataset.name}: ${summary.textContent.trim()}`;
}

export function prepareFields(root, channel) {
  for (const multi of root.querySelectorAll("details.multi")) label(multi);
  for (const select of root.querySelectorAll("select[data-default-conversation]")) {
    if (!select.value && [...select.options].some((option) => option.value === channel)) select.value = channel;
  }
  for (const input of root.querySelectorAll("input[data-epoch]")) {
    const date = new Date(Number(input.dataset.epoch) * 1000);
    input.value = new Date(date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
  }
}
