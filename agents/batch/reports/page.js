(() => {
  const COLUMNS = [
    { name: "id", label: "Spec" },
    { name: "title" },
    { name: "where" },
    { name: "standing", label: "Grade" },
    { name: "reached" },
    { name: "rounds", label: "Rounds", figure: true },
    { name: "tests", label: "Tests", figure: true },
    { name: "questions", label: "Open", figure: true },
    { name: "tokens", label: "Tokens", figure: true },
    { name: "seconds", label: "Seconds", figure: true },
  ];
  const STANDINGS = ["healthy", "verified", "consensus", "contested", "failed", "flaky", "environment", "ungraded", "stopped", "interrupted", "bad", "blocked", "not started"];
  const PAGE = 200;
  const at = (id) => document.getElementById(id);
  const rows = JSON.parse(at("results").textContent).map((values, index) => {
    const row = { index };
    COLUMNS.forEach((column, place) => { row[column.name] = values[place]; });
    row.words = `${row.id}\n${row.title}\n${row.where}`.toLowerCase();
    return row;
  });
  const state = { sort: "id", down: false, shown: PAGE, open: new Set() };

  const { make, slug, chip, plural, question, code, stepper, tests } = drawing;

  // --- the table -------------------------------------------------------------------------------------------

  function wanted() {
    const words = at("search").value.toLowerCase().trim();
    const grade = at("grade").value;
    const fits = (row) =>
      (grade === "" || (grade === "below" ? !row.reached : grade === "open" ? row.questions > 0 : `=${row.standing}` === grade)) &&
      row.words.includes(words);
    const rank = (row) => (state.sort === "standing" ? STANDINGS.indexOf(row.standing) : row[state.sort]);
    const order = (one, other) => {
      const [a, b] = [rank(one), rank(other)];
      const sign = a < b ? -1 : a > b ? 1 : 0;
      return (state.down ? -sign : sign) || one.index - other.index;
    };
    return rows.filter(fits).sort(order);
  }

  function draw() {
    const found = wanted();
    const shown = found.slice(0, state.shown);
    at("rows").replaceChildren(...shown.flatMap(lines));
    at("count").textContent = `${found.length.toLocaleString("en")} of ${plural(rows.length, "spec")}`;
    at("more").hidden = found.length <= shown.length;
    at("more").textContent = `Show ${Math.min(PAGE, found.length - shown.length)} more`;
    for (const cell of at("head").children) {
      const sorted = cell.dataset.name === state.sort;
      if (sorted) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    at("sort").value = `${state.sort} ${state.down ? "down" : "up"}`;
  }

  function lines(row) {
    const open = state.open.has(row.index);
    const button = make("button", {
      type: "button", class: "name", "aria-expanded": String(open), "aria-controls": `panel-${row.index}`,
      "data-index": row.index, on: { click: () => toggle(row.index) },
    }, make("span", { class: "id", text: row.id }), make("span", { class: "title", text: row.title || row.where }));
    const cells = COLUMNS.filter((column) => column.label).map((column) => {
      if (column.name === "id") return make("th", { scope: "row" }, button);
      if (column.name === "standing") return make("td", { "data-label": "Grade" }, chip(row.standing));
      return make("td", { class: "figure", "data-label": column.label, text: row[column.name].toLocaleString("en") });
    });
    const line = make("tr", { class: open ? "spec opened" : "spec" }, ...cells);
    return open ? [line, make("tr", { class: "panel-row" }, make("td", { colspan: String(cells.length) }, panel(row)))] : [line];
  }

  function toggle(index) {
    if (!state.open.delete(index)) state.open.add(index);
    draw();
    document.querySelector(`[data-index="${index}"]`).focus();
  }

  function sortBy(name, down) {
    state.sort = name;
    state.down = down;
    state.shown = PAGE;
    draw();
  }

  // --- what is told of a spec ------------------------------------------------------------------------------

  function panel(row) {
    const told = JSON.parse(at(`story-${row.index}`).textContent);
    const part = (title, ...children) => make("section", {}, make("h3", { text: title }), ...children);
    const facts = (told.facts || []).flatMap(([name, value]) => [make("dt", { text: name }), make("dd", { text: value })]);
    const listed = (items) => make("ul", {}, ...items);
    return make("div", { class: "panel", id: `panel-${row.index}`, role: "region", "aria-label": `Spec ${row.id}` },
      make("p", { class: "why" }, chip(row.standing), make("span", { text: told.why })),
      told.questions?.length ? part(plural(told.questions.length, "open question"), listed(told.questions.map(question))) : null,
      told.rounds?.length ? part("Rounds", stepper(told.rounds, row.index)) : null,
      told.tests?.length ? part("Tests", tests(told.tests)) : null,
      told.code ? part("Code", code(told.code)) : null,
      told.spec ? make("details", {}, make("summary", { text: "The spec" }), code(told.spec)) : null,
      told.notes?.length ? part("Notes", listed(told.notes.map((note) => make("li", { text: note })))) : null,
      facts.length ? part("Facts", make("dl", { class: "facts" }, ...facts)) : null);
  }

  // --- controls --------------------------------------------------------------------------------------------

  for (const column of COLUMNS.filter((each) => each.label)) {
    const act = () => sortBy(column.name, state.sort === column.name ? !state.down : Boolean(column.figure));
    const button = make("button", { type: "button", text: column.label, on: { click: act } });
    at("head").append(make("th", { scope: "col", class: column.figure ? "figure" : "words", "data-name": column.name }, button));
    for (const way of ["up", "down"]) {
      at("sort").append(make("option", { value: `${column.name} ${way}`, text: `${column.label} ${way === "up" ? "↑" : "↓"}` }));
    }
  }
  const afresh = () => { state.shown = PAGE; draw(); };
  at("search").addEventListener("input", afresh);
  at("grade").addEventListener("change", afresh);
  at("sort").addEventListener("change", () => { const [name, way] = at("sort").value.split(" "); sortBy(name, way === "down"); });
  at("more").addEventListener("click", () => { state.shown += PAGE; draw(); });
  draw();
})();
