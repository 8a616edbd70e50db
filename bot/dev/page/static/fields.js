// Values of interactive elements.

const checked = (field) => [...field.querySelectorAll("input:checked")].map((input) => input.value);

// → a string, a list for elements that hold several values, seconds for a moment, or null.
export function valueOf(field) {
  const { kind } = field.dataset;
  if (kind === "checkboxes" || kind.startsWith("multi_")) return checked(field);
  if (kind === "radio_buttons") return checked(field)[0] ?? null;
  if (kind === "datetimepicker" && field.value) return new Date(field.value) / 1000;
  return field.value === "" ? null : field.value;
}

// The key of an empty value in Slack's view state, where it is not "value".
const KEYS = {
  radio_buttons: "selected_option", static_select: "selected_option", conversations_select: "selected_conversation",
  datepicker: "selected_date", datetimepicker: "selected_date_time",
};

// → {block_id: {action_id: value}}. An emptied field says so; otherwise its initial value would count.
export function valuesIn(form) {
  const values = {};
  for (const field of form.querySelectorAll("[data-action-id][data-kind]:not([data-do])")) {
    const { blockId, actionId, kind } = field.dataset;
    (values[blockId] ??= {})[actionId] = valueOf(field) ?? { [KEYS[kind] ?? "value"]: null };
  }
  return values;
}

// Selects that default to the current conversation.
export function prepareFields(root, channel) {
  for (const select of root.querySelectorAll("select[data-default-conversation]")) {
    if (!select.value && [...select.options].some((option) => option.value === channel)) select.value = channel;
  }
}
