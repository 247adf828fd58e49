"use strict";
// Draws what is known of a run, for the report of a batch and for the page of all runs.
// Everything shown is set as text: nothing from a spec, a test or a model is ever read as markup.
const drawing = (() => {
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

  return { make, slug, chip, plural, question, code, diff, stepper, tests };
})();
