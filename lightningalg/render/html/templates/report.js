"use strict";
// Filter, sorting and copying; without scripts the pages show everything, in the order of the worksheets.
(() => {
  const table = document.getElementById("claim-table");
  const text = document.getElementById("filter-text");
  if (table && text) {
    const verdict = document.getElementById("filter-verdict");
    const worksheet = document.getElementById("filter-worksheet");
    const count = document.getElementById("filter-count");
    const rows = [...table.tBodies[0].rows];
    const filter = () => {
      const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const fits = (!verdict.value || row.dataset.verdict === verdict.value)
          && (!worksheet.value || row.dataset.worksheet === worksheet.value)
          && words.every((word) => row.dataset.text.includes(word));
        row.hidden = !fits;
        shown += fits;
      }
      count.value = `${shown} of ${rows.length} shown`;
    };
    for (const control of [text, verdict, worksheet]) control.addEventListener("input", filter);
    filter();  // a browser may have kept what was entered
  }
  const key = (row, index) => {
    const cell = row.cells[index];
    return cell.dataset.sort ?? cell.textContent.trim();
  };
  for (const sortable of document.querySelectorAll("table.sortable")) {
    const heads = [...sortable.tHead.rows[0].cells];
    heads.forEach((head, index) => head.querySelector("button")?.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = new Intl.Collator("en", { numeric: true }).compare;
      const body = sortable.tBodies[0];
      const sorted = [...body.rows].sort((a, b) => order(key(a, index), key(b, index)));
      body.append(...(down ? sorted.reverse() : sorted));
    }));
  }
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      const was = button.textContent;
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "copied";
      } catch {  // no clipboard, as in pages opened from a file in some browsers: show the command to copy
        button.textContent = button.dataset.copy;
        return;
      }
      setTimeout(() => { button.textContent = was; }, 1500);
    });
  }
})();
