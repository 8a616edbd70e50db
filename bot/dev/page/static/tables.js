// Data tables: sorting by a column and turning pages, on rows that are all there.

export function prepareTables(root) {
  for (const box of root.querySelectorAll("[data-table]")) show(box, Number(box.dataset.page ?? 0));
}

export function sortBy(button) {
  const head = button.closest("th");
  const box = button.closest("[data-table]");
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = box.querySelector("tbody");
  const key = (row) => row.children[Number(button.dataset.column)]?.dataset.sort ?? "";
  const rows = [...body.rows].sort((a, b) => compare(key(a), key(b)) * (down ? -1 : 1));
  body.append(...rows);
  show(box, 0);
}

export function turnPage(button) {
  const box = button.closest("[data-table]");
  show(box, Number(box.dataset.page) + Number(button.dataset.step));
}

function compare(a, b) {
  const numbers = a !== "" && b !== "" && !Number.isNaN(Number(a)) && !Number.isNaN(Number(b));
  return numbers ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });
}

function show(box, page) {
  const rows = [...box.querySelector("tbody").rows];
  const size = Number(box.dataset.pageSize) || 10;
  const last = Math.max(0, Math.ceil(rows.length / size) - 1);
  const at = Math.min(Math.max(page, 0), last);
  box.dataset.page = at;
  rows.forEach((row, i) => (row.hidden = i < at * size || i >= (at + 1) * size));
  const pager = box.querySelector(".pager");
  pager.hidden = last === 0;
  pager.querySelector("[data-range]").textContent = `${at * size + 1}–${Math.min((at + 1) * size, rows.length)} of ${rows.length}`;
  const [back, on] = pager.querySelectorAll("button");
  back.disabled = at === 0;
  on.disabled = at === last;
}
