// Tables that a reader can sort: every head of a table[data-sortable] becomes a button.
// A classic script, not a module: Chromium loads no modules from file://, and the site must open from a folder.
"use strict";
{
  /**
   * What a row is sorted by: the number or text of data-v, else the text of the cell.
   * @param {HTMLTableRowElement} row
   * @param {number} column
   * @returns {number | string | null}
   */
  const keyOf = (row, column) => {
    const cell = /** @type {HTMLElement | undefined} */ (row.cells[column]);
    const text = (cell?.dataset.v ?? cell?.textContent ?? "").trim();
    if (text === "" || text === "–") return null;
    const number = Number(text.replace("−", "-").replaceAll(",", "").replace(/ %$/, ""));
    return Number.isNaN(number) ? text : number;
  };

  /**
   * @param {HTMLTableElement} table
   * @param {number} column
   * @param {"ascending" | "descending"} order
   */
  const sort = (table, column, order) => {
    const body = table.tBodies[0];
    const sign = order === "ascending" ? 1 : -1;
    const rows = [...body.rows].map((row) => ({ row, key: keyOf(row, column) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null ? 1 : 0) - (b.key === null ? 1 : 0);
      if (typeof a.key === "number" && typeof b.key === "number") return sign * (a.key - b.key);
      return sign * String(a.key).localeCompare(String(b.key), undefined, { numeric: true });
    });
    body.append(...rows.map(({ row }) => row));
    for (const [place, head] of [...(table.tHead?.rows[0].cells ?? [])].entries()) {
      head.setAttribute("aria-sort", place === column ? order : "none");
    }
  };

  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table[data-sortable]"))) {
    for (const [column, head] of [...(table.tHead?.rows[0].cells ?? [])].entries()) {
      const button = document.createElement("button");
      button.type = "button";
      const small = head.querySelector("small");
      button.append(...[...head.childNodes].filter((node) => node !== small));
      head.prepend(button);
      head.setAttribute("aria-sort", "none");
      const flat = table.classList.contains("flat") && column > 0;
      const text = head.dataset.first === undefined && !head.classList.contains("num") && !flat;
      const first = head.dataset.first === "up" || text ? "ascending" : "descending";
      button.addEventListener("click", () => {
        const again = head.getAttribute("aria-sort") === first;
        sort(table, column, again ? (first === "ascending" ? "descending" : "ascending") : first);
      });
    }
    // After numbers have changed, the rows take the order of the same column again.
    table.addEventListener("numbers-changed", () => {
      const heads = [...(table.tHead?.rows[0].cells ?? [])];
      const column = heads.findIndex((head) => head.getAttribute("aria-sort")?.endsWith("ending"));
      if (column >= 0) sort(table, column, heads[column].getAttribute("aria-sort") === "ascending" ? "ascending" : "descending");
    });
  }
  document.documentElement.dataset.sortable = "yes";
}
