"use strict";
// Filter, sorting and copying; without scripts the pages show everything, in the order of the worksheets.
(() => {
  const say = (text) => { document.getElementById("said").textContent = text; };
  const collator = new Intl.Collator("en", { numeric: true });
  const key = (row, index) => row.cells[index].dataset.sort ?? row.cells[index].textContent.trim();

  const sortBy = (table, index, down) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, i) => {
      if (head.hasAttribute("aria-sort")) head.setAttribute("aria-sort", i !== index ? "none" : down ? "descending" : "ascending");
    });
    const sign = down ? -1 : 1;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => sign * collator.compare(key(a, index), key(b, index)));
    table.tBodies[0].append(...rows);
  };
  const sorted = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const index = heads.findIndex((head) => ["ascending", "descending"].includes(head.getAttribute("aria-sort")));
    return index < 0 ? null : { index, down: heads[index].getAttribute("aria-sort") === "descending" };
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, index) => head.querySelector("button")?.addEventListener("click", () => {
      sortBy(table, index, head.getAttribute("aria-sort") === "ascending");
      table.dispatchEvent(new Event("sorted"));
    }));
  }

  // The list of claims: what is entered is kept in the address, so that it can be sent and found again.
  const table = document.getElementById("claim-table");
  const form = document.querySelector("form.filter");
  if (table && form) {
    const names = ["text", "verdict", "kind", "strength", "worksheet"];
    const controls = Object.fromEntries(names.map((name) => [name, document.getElementById(`filter-${name}`)]));
    const count = document.getElementById("filter-count");
    const nothing = document.getElementById("nothing");
    const original = [...table.tBodies[0].rows];
    const fits = (row, name) => {
      const wanted = controls[name].value;
      const has = row.dataset[name];
      if (!wanted) return true;
      if (name === "text") return wanted.toLowerCase().split(/\s+/).filter(Boolean).every((word) => has.includes(word));
      return name === "strength" ? has.split(", ").includes(wanted) : has === wanted;
    };
    const filter = () => {
      let shown = 0;
      for (const row of original) {
        row.hidden = !names.every((name) => fits(row, name));
        shown += !row.hidden;
      }
      count.value = `${shown} of ${original.length} shown`;
      nothing.hidden = shown > 0;
    };
    let written = "";
    const remember = () => {
      const state = new URLSearchParams();
      for (const name of names) if (controls[name].value) state.set(name, controls[name].value);
      const order = sorted(table);
      if (order) state.set("sort", `${order.index}${order.down ? "-" : ""}`);
      written = state.toString();
      history.replaceState(null, "", written ? `#${written}` : location.pathname + location.search);
    };
    const recall = () => {
      const hash = location.hash.slice(1);
      if (hash === written || (hash && !hash.includes("="))) return false;  // our own, or a place in the page
      written = hash;
      const state = new URLSearchParams(hash);
      for (const name of names) controls[name].value = state.get(name) ?? "";
      for (const name of names) if (controls[name].value !== (state.get(name) ?? "")) controls[name].value = "";
      const order = /^([0-9]+)(-?)$/.exec(state.get("sort") ?? "");
      const head = order && table.tHead.rows[0].cells[+order[1]];
      if (head?.hasAttribute("aria-sort")) sortBy(table, +order[1], order[2] === "-");
      return true;
    };
    const restart = () => {
      for (const name of names) controls[name].value = "";
      for (const head of table.tHead.rows[0].cells) head.setAttribute("aria-sort", "none");
      table.tBodies[0].append(...original);
      filter();
      remember();
    };
    for (const control of Object.values(controls)) {
      control.addEventListener("input", () => { filter(); remember(); });
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", (event) => { event.preventDefault(); restart(); });
    document.getElementById("filter-clear").addEventListener("click", () => { restart(); controls.text.focus(); });
    table.addEventListener("sorted", remember);
    addEventListener("hashchange", () => { if (recall()) filter(); });
    recall();
    filter();  // a browser may have kept what was entered
  }

  const copied = async (text, code) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {  // no clipboard, as in pages opened from a file in some browsers: by selection
      getSelection().selectAllChildren(code);
      return document.execCommand("copy");
    }
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    const done = await copied(code.textContent, code);
    say(done ? "Copied." : "The command is selected: press Ctrl C or Cmd C to copy it.");
    button.textContent = done ? "Copied" : "Ctrl C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
})();
