(() => {
  const { make, chip, plural, question, code, diff, stepper, tests } = drawing;
  const at = (id) => document.getElementById(id);
  const SAMPLES = [
    ["Quicksort", "Implement quicksort(arr: list[int]) -> list[int] that returns a new sorted list. Do not use Python's built-in sort.", "quicksort([3, 1, 2]) == [1, 2, 3]"],
    ["Slug of a title", "Implement slugify(text: str) -> str that lowercases, ascii-folds, replaces spaces with dashes and strips punctuation.", "slugify(\"Crème Brûlée!\") == \"creme-brulee\""],
    ["Roman numerals", "Implement roman(number: int) -> str that writes a number from 1 to 3999 in Roman numerals.", "roman(1994) == \"MCMXCIV\""],
  ];
  const MEANING = {
    verified: "It passes your examples and tests, and independent drafts agree.",
    consensus: "Independent drafts and tests agree; there was no example of yours.",
    contested: "Something is in doubt: read why, and answer the questions if there are any.",
    failed: "It does not do what was asked: a test that is trusted fails.",
    running: "It is at work.",
    waiting: "It waits for another run to end.",
    interrupted: "It was stopped before its end. Resume goes on; nothing that was answered is asked again.",
    stopped: "An error or a limit ended it.",
  };
  const KEY = "greenloop";
  let source = null;
  let shown = 0;
  let drawn = 0;

  // The key is kept by origin, so that no other port gets it as it would a cookie; all tabs of this one share it.
  const headers = () => ({ Authorization: `Bearer ${localStorage.getItem(KEY) || ""}` });

  async function enter(code) {
    history.replaceState(null, "", "/");
    if (localStorage.getItem(KEY) && (await fetch("/api/runs", { headers: headers() })).ok) return;  // opened twice here
    localStorage.setItem(KEY, (await ask("/api/session", { code })).key);
  }

  async function ask(path, body) {
    const options = body === undefined ? { headers: headers() } : { method: "POST", headers: { ...headers(), "Content-Type": "application/json" }, body: JSON.stringify(body) };
    let answer, found;
    try {
      answer = await fetch(path, options);
      found = await answer.json();
    } catch {
      throw new Error("The server does not answer; is it still running?");
    }
    if (!answer.ok) throw new Error(found.error || `The server says ${answer.status}.`);
    return found;
  }

  function alert(text) {
    at("alert").textContent = text;
    at("alert").hidden = !text;
  }

  const act = (label, work, options = {}) => make("button", { type: "button", text: label, on: { click: async (event) => {
    event.target.disabled = true;
    alert("");
    try { await work(); } catch (error) { alert(error.message); }
    event.target.disabled = false;
  } }, ...options });

  const path = (name, rest = "") => `/api/runs/${encodeURIComponent(name)}${rest}`;
  const link = (name, text) => make("a", { href: `#run=${encodeURIComponent(name)}`, text });
  const go = (name) => { const hash = `#run=${encodeURIComponent(name)}`; if (location.hash === hash) draw(); else location.hash = hash; };
  const part = (title, ...children) => make("section", {}, make("h2", { text: title }), ...children);
  const state = (run) => (run.state === "finished" ? run.grade || "finished" : run.state);

  // --- the list --------------------------------------------------------------------------------------------

  async function runs() {
    const { runs: rows, model, report } = await ask("/api/runs");
    const picked = new Set();
    const compare = act("Compare the two", () => { location.hash = `#compare=${[...picked].map(encodeURIComponent).join(",")}`; });
    compare.disabled = true;
    const pick = (name) => make("input", { type: "checkbox", "aria-label": `Compare ${name}`, on: { change: (event) => {
      if (event.target.checked) picked.add(name); else picked.delete(name);
      compare.disabled = picked.size !== 2;
    } } });
    const cell = (label, options, ...children) => make("td", { "data-label": label, ...options }, ...children);
    const lines = rows.map((run) => make("tr", {},
      make("td", {}, run.kind === "heal" ? "" : pick(run.name)),
      make("th", { scope: "row" }, link(run.name, run.title || run.name), make("span", { class: "name-of muted", text: run.name })),
      cell("Grade", {}, chip(state(run))),
      cell("Model", { class: "model", text: run.model || "" }),
      cell("Tokens", { class: "figure", text: run.tokens.toLocaleString("en") }),
      cell("Seconds", { class: "figure", text: run.seconds.toFixed(0) }),
      run.cost ? cell("USD", { class: "figure", text: run.cost.toFixed(4) }) : make("td", {})));
    const head = ["", "Run", "Grade", "Model", "Tokens", "Seconds", "USD"].map((text) => make("th", { scope: "col", text, class: ["Tokens", "Seconds", "USD"].includes(text) ? "figure" : text === "Model" ? "model" : "words" }));
    head[0].append(make("span", { class: "muted", text: "Pick" }));
    return ["Runs",
      make("p", { class: "muted" }, `${plural(rows.length, "run")}. Model: ${model}.`, report ? " They belong to a batch: " : "", report ? make("a", { href: report, text: "its report" }) : ""),
      rows.length ? make("table", { class: "runs" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines)) : make("p", {}, "Nothing has run yet. ", make("a", { href: "#new", text: "Begin a run." })),
      make("div", { class: "acts" }, compare)];
  }

  // --- a new run -------------------------------------------------------------------------------------------

  function begin() {
    const field = (label, id, options) => {
      const area = make("textarea", { id, ...options });
      return [make("label", { for: id }, make("span", { text: label }), area), area];
    };
    const [specLabel, spec] = field("What the function is to do, with its signature", "spec", { required: "" });
    const [examplesLabel, examples] = field("Examples, one a line: f(1) == 2 (they are trusted)", "examples", {});
    const [testsLabel, own] = field("A pytest file of yours (trusted)", "own", {});
    const effort = make("select", { id: "effort" }, ...["medium", "low", "high"].map((value) => make("option", { value, text: value })));
    const limit = (label, id) => { const input = make("input", { id, type: "number", min: "1", inputmode: "numeric" }); return [make("label", { for: id }, label, input), input]; };
    const [tokensLabel, tokens] = limit("Tokens at most", "tokens");
    const [secondsLabel, seconds] = limit("Seconds at most", "seconds");
    const approve = make("input", { id: "approve", type: "checkbox" });
    const number = (input) => (input.value ? Number(input.value) : null);
    const start = act("Begin", async () => {
      const body = { spec: spec.value, examples: examples.value, tests: own.value, effort: effort.value, max_tokens: number(tokens), max_seconds: number(seconds), approve: approve.checked };
      const { run } = await ask("/api/runs", body);
      go(run);
    }, { class: "primary", id: "begin" });
    const sample = ([name, text, example]) => act(name, () => { spec.value = text; examples.value = example; spec.focus(); });
    return ["New run", make("div", { class: "form" },
      make("div", { class: "label" }, make("span", { text: "Begin with an example" }), make("div", { class: "samples" }, ...SAMPLES.map(sample))),
      specLabel, examplesLabel,
      make("details", {}, make("summary", { text: "Tests and limits" }), make("div", { class: "form" }, testsLabel,
        make("div", { class: "pair" }, make("label", { for: "effort" }, "Effort", effort), tokensLabel, secondsLabel),
        make("label", { class: "check", for: "approve" }, approve, "Show me each replacement before it runs"))),
      make("div", {}, start))];
  }

  // --- one run ---------------------------------------------------------------------------------------------

  async function run(name) {
    const own = drawn;
    const found = await ask(path(name));
    const now = state(found);
    const top = make("p", { class: "plain" }, chip(now), " ", MEANING[now] || "");
    if (found.kind === "heal") return [found.title, top, ...heal(found)];
    const atWork = found.state === "running" || found.state === "waiting";
    const live = make("section", { class: "live card", "aria-live": "polite" });
    if (atWork && own === drawn) follow(name, live);  // a page that another has replaced follows nothing
    const rounds = found.rounds.length;
    const forkAt = make("select", { "aria-label": "Round to fork after" }, ...[...Array(rounds + 1).keys()].map((value) => make("option", { value: String(value), text: value ? `after round ${value}` : "from the start" })));
    return [found.title,
      top,
      make("p", { text: found.why }),
      make("div", { class: "acts" },
        atWork ? act("Stop", async () => { await ask(path(name, "/stop"), {}); await draw(); }) : null,
        ["interrupted", "stopped"].includes(found.state) ? act("Resume", async () => { await ask(path(name, "/resume"), {}); await draw(); }, { class: "primary" }) : null,
        !atWork && rounds ? forkAt : null,
        !atWork && rounds ? act("Fork", async () => { go((await ask(path(name, "/fork"), { round: Number(forkAt.value) })).run); }) : null,
        !atWork && found.grade === "failed" ? act("Debug", async () => { go((await ask(path(name, "/debug"), {})).run); }) : null),
      found.proposal ? proposal(name, found.proposal) : null,
      atWork && found.spec ? make("section", { class: "asked" }, make("h2", { text: "The spec" }), code(found.spec)) : null,
      atWork ? live : null,
      found.questions.length && !atWork ? questions(name, found.questions) : null,
      found.code ? part("Code", code(found.code)) : null,
      rounds ? part("Rounds", stepper(found.rounds, 0)) : null,
      found.tests.length ? part("Tests", make("p", { class: "muted", text: "What each test did on the best candidate, and why tests were ruled out." }), tests(found.tests)) : null,
      found.suite ? fold("The surviving tests as a file", code(found.suite)) : null,
      found.spec && !atWork ? fold("The spec", code(found.spec)) : null,
      calls(name),
      found.notes.length ? part("Notes", make("ul", {}, ...found.notes.map((note) => make("li", { text: note })))) : null,
      part("Facts", make("dl", { class: "facts" }, ...found.facts.flatMap(([term, value]) => [make("dt", { text: term }), make("dd", { text: value })])))];
  }

  const fold = (title, ...children) => make("details", {}, make("summary", { text: title }), ...children);

  function calls(name) {
    const whole = fold("Prompts and replies");
    whole.addEventListener("toggle", async () => {
      if (!whole.open || whole.children.length > 1) return;
      const { calls: list } = await ask(path(name, "/calls"));
      whole.append(...list.map((each) => fold(each.title, make("h3", { text: "Prompt" }), code(each.prompt), make("h3", { text: "Reply" }), code(each.reply))));
    });
    return whole;
  }

  function heal(found) {
    const result = found.heal;
    if (result === null) return [make("p", { text: "It has no result yet." })];
    return [make("p", { text: result.why }),
      result.question ? make("p", {}, make("strong", { text: "Open: " }), result.question) : null,
      result.diff ? part("The patch", diff(result.diff)) : null,
      result.symptom ? part("What was wrong", make("p", { text: result.symptom.summary }), result.symptom.traceback ? fold("Traceback", code(result.symptom.traceback)) : null) : null,
      part("Patches tried", make("ul", {}, ...result.trials.map((trial) => make("li", {}, make("code", { text: trial.patch.id }), ` ${trial.observation.symptom ? `it still fails: ${trial.observation.symptom.summary}` : "the failure is gone"}`, ...trial.suspicions.map((each) => make("p", { class: "muted", text: `Not believed: ${each.name}, ${each.detail}` }))))))];
  }

  function questions(name, list) {
    const lines = make("textarea", { id: "lines", "aria-label": "Answers, one a line" });
    const said = (line) => line.startsWith("any: ") ? "The spec doesn't care" : line.startsWith("wrong: ") ? "The test is wrong" : line;
    const offer = (line) => act(said(line), () => { lines.value = `${lines.value}${lines.value ? "\n" : ""}${line}`; }, { title: line });
    const asked = (each) => [question(each), make("li", {}, make("div", { class: "samples acts", role: "group", "aria-label": each.question }, ...each.lines.map(offer)))];
    return part(plural(list.length, "open question"), make("ul", { class: "questions" }, ...list.flatMap(asked)),
      make("p", { text: "Click the right answers, or write your own; then go on." }), lines,
      make("div", { class: "acts" }, act("Answer and go on", async () => { await ask(path(name, "/answer"), { lines: lines.value }); await draw(); }, { class: "primary" })));
  }

  function proposal(name, each) {
    const text = make("textarea", { id: "edited", "aria-label": "The code, to be changed" });
    text.value = each.text;
    const decide = (answer, given = "") => async () => { await ask(path(name, "/decide"), { digest: each.digest, answer, text: given }); const here = location.hash; setTimeout(() => { if (location.hash === here) draw(); }, 400); };
    return make("section", { class: "card proposal", "aria-label": "Waits for your approval" }, make("h2", { text: each.title }),
      each.problem ? make("p", { class: "alert", text: each.problem }) : null,
      each.diff ? diff(each.diff) : code(each.text), ...each.facts.map((fact) => fold("A test that the leader fails", code(fact))),
      fold("Change it first", text, act("Use my version", () => decide("edit", text.value)())),
      make("div", { class: "acts" }, act("Use it", decide("yes"), { class: "primary" }), act("Refuse it", decide("no")), act("Use it, and ask no more", decide("always"))));
  }

  // --- what happens now ------------------------------------------------------------------------------------

  function follow(name, live) {
    const said = make("p", { class: "muted", text: "Waiting for news." });
    const texts = new Map();
    const area = make("div", {});
    const figures = make("p", { class: "muted", "aria-live": "off" });
    const spent = { model: "", begun: null, tokens: 0, seconds: 0 };
    const count = () => {
      const parts = [spent.model, spent.begun ? `${Math.max(0, (Date.now() - spent.begun) / 1000).toFixed(0)} s` : "", spent.tokens ? plural(spent.tokens, "token") : ""];
      figures.textContent = parts.filter(Boolean).join(", ") + (spent.seconds ? ` at ${(spent.tokens / spent.seconds).toFixed(1)} tokens/s` : "");
    };
    live.replaceChildren(make("h2", { text: "Now" }), said, figures, area);
    let again = null;
    const stream = new AbortController();
    const drawHere = () => { if (source === stream) draw(); };  // not over another page
    const redraw = () => { clearTimeout(again); again = setTimeout(drawHere, 500); };
    source = stream;
    const heard = (event) => {
      const call = texts.get(event.call);
      if (event.event === "started") Object.assign(spent, { model: event.model, begun: Date.parse(event.time), tokens: 0, seconds: 0 });
      if (event.event === "answered" && !event.replayed) { spent.tokens += event.usage.completion_tokens; spent.seconds += event.usage.seconds; }
      count();
      if (event.event === "started" && !document.querySelector(".asked")) redraw();  // there is a spec to show now
      if (event.event === "asked") {
        const written = make("code", {});
        const box = make("div", {}, make("p", {}, make("strong", { text: event.role.replace("_", " ") }), `: ${event.purpose}`), make("pre", { tabindex: "0", "aria-label": "reply" }, written));
        texts.set(event.call, { box, written });
        area.append(box);
        said.textContent = `${event.role.replace("_", " ")} is asked: ${event.purpose}`;
      } else if (event.event === "text" && call) {
        call.written.append(event.text);
      } else if (event.event === "answered" && call) {
        call.box.remove();
        texts.delete(event.call);
      } else if (event.event === "testing") {
        said.textContent = `Round ${event.round}: ${event.candidates} candidates are run on ${event.tests} tests.`;
      } else if (event.event === "note") {
        said.textContent = event.text;
      } else if (event.event === "ruled") {
        said.textContent = `Round ${event.round}: ${event.grade}. ${event.why}`;
        if (Number(event.number) > shown) { shown = Number(event.number); redraw(); }
      }
    };
    listen(path(name, "/events"), stream.signal, heard).then(redraw, () => {});
    const watch = setInterval(async () => {
      if (source !== stream) { clearInterval(watch); return; }
      count();
      const found = await ask(path(name)).catch(() => null);
      if (found && (found.proposal || !["running", "waiting"].includes(found.state)) && !document.querySelector(".proposal")) drawHere();
    }, 1500);
  }

  // Hear the lines of a run until it has ended.
  async function listen(address, signal, heard) {
    const answer = await fetch(address, { headers: headers(), signal });
    if (!answer.ok) throw new Error(`The server says ${answer.status}.`);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = "", part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop();
      for (const line of lines) heard(JSON.parse(line));
    }
  }

  // --- two runs --------------------------------------------------------------------------------------------

  async function compare(names) {
    const both = await Promise.all(names.map((name) => ask(path(name))));
    const { diff: change } = await ask(path(names[0], `/diff/${encodeURIComponent(names[1])}`));
    const side = (found) => make("section", { class: "card" }, make("h2", {}, link(found.name, found.name)), make("p", {}, chip(state(found)), " ", found.why),
      make("dl", { class: "facts" }, ...found.facts.flatMap(([term, value]) => [make("dt", { text: term }), make("dd", { text: value })])), fold("Its code", code(found.code || "no code")));
    return ["Two runs", change ? diff(change) : make("p", { text: "Both have the same code." }), make("div", { class: "sides" }, ...both.map(side))];
  }

  async function draw() {
    if (source !== null) { source.abort(); source = null; }
    drawn += 1;
    const own = drawn;
    const [kind, value = ""] = location.hash.slice(1).split("=");
    let title, parts;
    try {
      if (kind === "code") await enter(value);
      if (kind === "new") [title, ...parts] = begin();
      else if (kind === "run") [title, ...parts] = await run(decodeURIComponent(value));
      else if (kind === "compare") [title, ...parts] = await compare(value.split(",").map(decodeURIComponent));
      else [title, ...parts] = await runs();
    } catch (error) {
      alert(error.message);
      return;
    }
    if (own !== drawn) return;  // another page was asked for meanwhile
    at("title").textContent = title;
    document.title = `${title.slice(0, 60)} - greenloop`;
    at("view").replaceChildren(...parts.filter((each) => each !== null));
  }

  addEventListener("hashchange", () => { shown = 0; alert(""); draw(); at("view").focus({ preventScroll: true }); scrollTo(0, 0); });
  draw();
})();
