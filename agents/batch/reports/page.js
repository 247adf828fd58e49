"use strict";
// Everything shown is set as text: nothing from a spec, a test or a model is ever read as markup.
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

  function make(tag, options = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "text") element.textContent = value;
      else if (name === "on") Object.entries(value).forEach(([event, act]) => element.addEventListener(event, act));
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  const slug = (name) => name.replaceAll(" ", "-");
  const chip = (name) => make("span", { class: `chip chip-${slug(name)}`, text: name });
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

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

  const question = (each) => make("li", { class: "question" }, make("code", { text: each.question }), make("p", { class: "muted", text: each.how }));
  const code = (text) => make("pre", { tabindex: "0", "aria-label": "source" }, make("code", { text }));

  function diff(text) {
    const kind = (line) =>
      line.startsWith("+++") || line.startsWith("---") || line.startsWith("@@") ? "diff-head" :
      line.startsWith("+") ? "diff-in" : line.startsWith("-") ? "diff-out" : "diff-same";
    const drawn = text.split("\n").map((line) => make("span", { class: kind(line), text: line === "" ? " " : line }));
    return make("pre", { class: "diff", tabindex: "0", "aria-label": "changes" }, make("code", {}, ...drawn));
  }

  function stepper(rounds, index) {
    const body = make("div", { class: "round", "aria-live": "polite" });
    const buttons = rounds.map((each, place) => make("button", { type: "button", text: String(each.number), "aria-label": `Round ${each.number}`, on: { click: () => step(place) } }));
    const back = make("button", { type: "button", text: "← Previous", on: { click: () => step(now - 1) } });
    const on = make("button", { type: "button", text: "Next →", on: { click: () => step(now + 1) } });
    let now = 0;
    function step(place) {
      now = place;
      buttons.forEach((button, number) => button.setAttribute("aria-pressed", String(number === now)));
      back.disabled = now === 0;
      on.disabled = now === rounds.length - 1;
      body.replaceChildren(...round(rounds[now]));
    }
    step(rounds.length - 1);
    return make("div", { class: "stepper", id: `rounds-${index}` }, make("div", { class: "steps", role: "group", "aria-label": "Rounds" }, back, ...buttons, on), body);
  }

  function round(each) {
    const failing = each.failing.map((test) => make("li", {}, make("code", { text: test.id }), make("span", { class: "muted", text: ` ${test.status}` }), test.detail ? code(test.detail) : null));
    return [
      make("p", {}, make("strong", { text: `Round ${each.number}` }), chip(each.grade), make("span", { text: each.why }), make("span", { class: "muted", text: `${each.seconds} s, next: ${each.next}` })),
      ...each.candidates.map(candidate),
      ...(failing.length ? [make("details", {}, make("summary", { text: `${plural(failing.length, "test")} that the leader does not pass` }), make("ul", {}, ...failing))] : []),
    ];
  }

  function candidate(each) {
    const counts = `${each.passed} passed, ${each.failed} not${each.refused ? `, ${each.refused} refused` : ""}`;
    const origin = "change" in each ? (each.parent ? `${each.origin} of ${each.parent}` : each.origin) : `${each.origin}, unchanged`;
    const head = [
      make("code", { text: each.id }), each.leads ? make("span", { class: "leader", text: "leads" }) : null,
      make("span", { text: origin }), make("span", { class: `outcome outcome-${each.verdict === "passed" ? "passed" : "failed"}`, text: each.verdict }),
      make("span", { class: "muted", text: [counts, ["passed", "failed"].includes(each.verdict) ? "" : each.reason, each.mended && `mended: ${each.mended}`].filter(Boolean).join("; ") }),
    ].filter((part) => part !== null);
    if (!("change" in each)) return make("p", { class: "candidate" }, ...head);
    const shown = make("details", { class: "candidate" }, make("summary", {}, ...head), each.parent ? diff(each.change) : code(each.change));
    shown.open = Boolean(each.parent) || each.leads;
    return shown;
  }

  function tests(list) {
    return make("div", { class: "tests" }, ...list.map((test) => {
      const votes = test.for || test.against ? `votes ${test.for}:${test.against}` : "";
      const head = make("summary", {},
        make("span", { class: `outcome outcome-${slug(test.status)}`, text: test.status }), make("code", { text: test.id }),
        make("span", { class: "muted", text: [test.origin, test.standing, votes].filter(Boolean).join(", ") }));
      return make("details", {}, head,
        test.reason ? make("p", { text: test.reason }) : null,
        test.source ? code(test.source) : null,
        test.detail ? code(test.detail) : null);
    }));
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
