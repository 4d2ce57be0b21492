"""The script of pages that show estimates."""

# A click on a column header sorts the table. Without scripts, the table is shown unsorted.
SORTING = """
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const down = before ? before === "ascending" : column > 0;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      for (const body of table.tBodies) {
        if (body.rows.length < 2) continue;
        const rows = [...body.rows].map((row) => {
          const cell = row.cells[column];
          return [cell.dataset.key === undefined ? cell.textContent : Number(cell.dataset.key), row];
        });
        const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
        rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
        body.append(...rows.map((row) => row[1]));
      }
    });
  });
}
"""
