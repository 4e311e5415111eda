"use strict";
// The sample browser. Texts of models only ever become text nodes: no markup is made from them.
(() => {
  const index = JSON.parse(document.getElementById("index").textContent);
  const chunks = new Map(JSON.parse(document.getElementById("texts").textContent).entries());
  const nonce = document.currentScript.nonce;
  const waiting = new Map();
  const byId = (id) => document.getElementById(id);
  const PAGE = 200;
  const LONG = 100000;
  const FACT = 2000;
  const PIECE = 4000;

  // The same characters that the terminal shows as escapes: control, bidi, unassigned, halves of pairs.
  const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
  const escaped = (char) => {
    const code = char.codePointAt(0);
    const width = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
    return "\\" + { 2: "x", 4: "u", 8: "U" }[width] + code.toString(16).padStart(width, "0");
  };
  const visible = (text) => text.replace(hidden, (c) => (c === "\n" || c === "\t" ? c : escaped(c)));

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") made.addEventListener(key, value);
      else if (value !== null && value !== undefined) made.setAttribute(key, value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined) {
        made.append(child instanceof Node ? child : visible(String(child)));
      }
    }
    return made;
  }

  // A page opened from disk may not fetch, but it may load a script that hands its records over.
  window.genbenchTexts = (number, records) => {
    chunks.set(number, records);
    for (const done of waiting.get(number) || []) done.resolve(records);
    waiting.delete(number);
  };
  function chunk(number) {
    if (chunks.has(number)) return Promise.resolve(chunks.get(number));
    return new Promise((resolve, reject) => {
      const others = waiting.get(number);
      if (others) return void others.push({ resolve, reject });
      waiting.set(number, [{ resolve, reject }]);
      const script = document.createElement("script");
      script.nonce = nonce;
      script.src = `${encodeURIComponent(index.folder)}/${number}.js`;
      script.onerror = () => {
        for (const done of waiting.get(number) || []) done.reject(new Error(script.src));
        waiting.delete(number);
      };
      document.head.append(script);
    });
  }
  async function texts(number, ...key) {
    return number < 0 ? null : (await chunk(number))[key.join("\n")] || null;
  }

  const statusOf = (run, at) => (run && run.status[at] !== "." ? index.statuses[parseInt(run.status[at], 36)] : null);
  function scoreOf(run, at) {
    const status = statusOf(run, at);
    if (status === null) return null;
    if (String(at) in run.scores) return run.scores[at];
    return status === "correct" ? 1 : 0;
  }
  const words = (status) => (status === null ? "not drawn" : status.replaceAll("_", " "));
  const hashOf = (task, problem, sample) => "#" + [task, problem, sample].map((part) => encodeURIComponent(well(part))).join("/");
  const well = (part) => String(part).replace(/\p{Cs}/gu, "?");

  function options(select, pairs) {
    select.replaceChildren(...pairs.map(([value, label]) => element("option", { value }, label)));
  }

  function matches(task, at, want) {
    const runs = want.run === "" ? task.runs : [task.runs[want.run]];
    if (want.status && !runs.some((run) => statusOf(run, at) === want.status)) return false;
    if (want.min && !runs.some((run) => run && run.tokens[at] >= want.min)) return false;
    if (want.flip) {
      const [first, last] = [scoreOf(task.runs[0], at), scoreOf(task.runs[task.runs.length - 1], at)];
      if (first === null || last === null) return false;
      if (want.flip === "gained" ? !(first < 1 && last === 1) : !(first === 1 && last < 1)) return false;
    }
    return runs.some((run) => run && run.status[at] !== ".");
  }

  function wanted() {
    return {
      task: byId("f-task").value,
      status: byId("f-status").value,
      run: byId("f-run").value,
      flip: byId("f-flip").value,
      min: Number(byId("f-min").value) || 0,
      problem: byId("f-problem").value.toLowerCase(),
      order: byId("f-order").value,
    };
  }

  let found = [];
  function search() {
    const want = wanted();
    found = [];
    index.tasks.forEach((task, number) => {
      if (want.task !== "" && Number(want.task) !== number) return;
      task.ids.forEach((problem, row) => {
        if (want.problem && !problem.toLowerCase().includes(want.problem)) return;
        for (let sample = 0; sample < task.k; sample++) {
          const at = row * task.k + sample;
          if (matches(task, at, want)) found.push({ task, number, problem, row, sample, at });
        }
      });
    });
    if (want.order) {
      const length = (hit) => Math.max(...hit.task.runs.map((run) => (run ? run.tokens[hit.at] : 0)));
      const sign = want.order === "long" ? -1 : 1;
      found.sort((a, b) => sign * (length(a) - length(b)));
    }
    byId("count").textContent = `${found.length.toLocaleString("en")} samples`;
    byId("list").replaceChildren();
    more(0);
  }

  function more(start) {
    const list = byId("list");
    list.append(...found.slice(start, start + PAGE).map(entry));
    const next = start + PAGE;
    if (next < found.length) {
      const button = element("button", { type: "button" }, `show more (${found.length - next})`);
      const item = element("li", {}, button);
      button.addEventListener("click", () => {
        item.remove();
        more(next);
      });
      list.append(item);
    }
    mark();
  }

  function entry(hit) {
    const found = hit.task.runs.map((run) => {
      const status = statusOf(run, hit.at);
      return element("span", { class: `status s-${status}` }, words(status));
    });
    const href = hashOf(hit.task.name, hit.problem, hit.sample);
    const where = element("span", { class: "where" }, `${hit.task.name} / ${hit.problem} / ${hit.sample}`);
    return element("li", {}, element("a", { href }, where, element("br"), found));
  }

  function mark() {
    for (const link of byId("list").querySelectorAll("a")) {
      if (link.getAttribute("href") === location.hash) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  // In blocks of lines: the layout of one block takes time that grows with the square of its length.
  function pieces(text) {
    const found = [];
    for (let start = 0; start < text.length; ) {
      const line = text.lastIndexOf("\n", start + PIECE) + 1;
      const end = line > start ? line : start + PIECE;
      found.push(text.slice(start, end));
      start = end;
    }
    const class_ = found.length > 1 ? "piece" : null;
    return found.map((piece) => element("div", { class: class_ }, piece));
  }

  // The beginning of a text, and a button for the rest: megabytes on a page would halt it.
  function beginning(name, text, limit) {
    const holder = element(name, {}, pieces(text.slice(0, limit)));
    if (text.length <= limit) return [holder];
    const button = element("button", { type: "button" }, `show all ${text.length.toLocaleString("en")} characters`);
    button.addEventListener("click", () => {
      holder.replaceChildren(...pieces(text));
      button.remove();
    });
    return [holder, button];
  }

  function block(title, text, folded) {
    const shown = text === null || text === undefined ? "(not kept)" : text;
    const parts = beginning("pre", shown || "(empty)", LONG);
    const label = `${title} (${shown.length.toLocaleString("en")} characters)`;
    if (!folded) return [element("h4", {}, title), ...parts];
    return element("details", {}, element("summary", {}, label), parts);
  }

  const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  function facts(run, record, reference, at, unit) {
    const rows = [
      ["verdict", `${words(statusOf(run, at))}, score ${scoreOf(run, at) ?? "-"}`],
      ["extracted", record.extracted ?? "(nothing)"],
      ["reference", reference ?? "(not kept)"],
      ["length", `${run.tokens[at].toLocaleString("en")} ${unit}`],
      ["ended by", record.turns[record.turns.length - 1].finish_reason],
      ["seed", record.seed ?? "-"],
    ];
    for (const [key, value] of Object.entries(record.detail)) rows.push([key.replaceAll("_", " "), plain(value)]);
    const failed = Object.entries(record.parts).filter(([, score]) => score < 1);
    if (failed.length) rows.push(["not met", failed.map(([name, score]) => `${name} (${score})`).join("\n")]);
    const cells = ([name, text]) => [element("dt", {}, name), element("dd", {}, beginning("div", String(text), FACT))];
    return element("dl", {}, rows.flatMap(cells));
  }

  async function side(place, number) {
    const { task, taskNumber, problem, row, sample } = place;
    const run = task.runs[number];
    const at = row * task.k + sample;
    const status = statusOf(run, at);
    const head = element("h3", {}, index.runs[number]);
    if (!run || status === null) return element("div", { class: "side" }, head, "not drawn");
    const record = await texts(run.chunks[at], number, task.name, problem, sample);
    const asks = (await texts(run.asks[row], number, task.name, problem)) || [];
    const ask = asks.find((one) => one.samples.includes(sample)) || { prompt: null, reference: null };
    const turns = record.turns.flatMap((turn, which) => {
      const turned = record.turns.length > 1 ? `, turn ${which + 1}` : "";
      const prompt = which ? block(`Prompt${turned}`, turn.prompt, true) : [];
      const trace = turn.trace ? block(`Trace${turned}`, turn.trace, true) : [];
      return [prompt, trace, block(`Answer${turned}`, turn.answer.replace(/^\n+/, ""), false)].flat();
    });
    const parts = [facts(run, record, ask.reference, at, task.unit), block("Prompt", ask.prompt, true), turns];
    return element("div", { class: `side s-${status}` }, head, parts.flat());
  }

  function steps(place) {
    const { task, row, sample, problem } = place;
    const to = (label, problemTo, sampleTo) =>
      problemTo === undefined || sampleTo < 0 || sampleTo >= task.k
        ? null
        : element("a", { href: hashOf(task.name, problemTo, sampleTo) }, label);
    return element(
      "p",
      { class: "steps small" },
      to("← sample", problem, sample - 1),
      to("sample →", problem, sample + 1),
      to("← problem", task.ids[row - 1], sample),
      to("problem →", task.ids[row + 1], sample),
    );
  }

  // #task/problem/sample, each part percent-encoded; sections of the page have no slash.
  function parse(hash) {
    const parts = hash.slice(1).split("/");
    if (parts.length !== 3) return null;
    let names;
    try {
      names = parts.map(decodeURIComponent);
    } catch {
      return null;
    }
    const taskNumber = index.tasks.findIndex((task) => well(task.name) === names[0]);
    if (taskNumber < 0) return { missing: hash };
    const task = index.tasks[taskNumber];
    const row = task.ids.findIndex((id) => well(id) === names[1]);
    const sample = Number(names[2]);
    if (row < 0 || !Number.isInteger(sample) || sample < 0 || sample >= task.k) return { missing: hash };
    return { task, taskNumber, problem: task.ids[row], row, sample };
  }

  let latest = 0;
  async function open() {
    const place = parse(location.hash);
    mark();
    if (place === null) return;
    const turn = ++latest;
    const target = byId("sample");
    let parts;
    if (place.missing) {
      parts = [element("p", { class: "notice bad" }, `No sample ${place.missing} in this report.`)];
    } else {
      try {
        const sides = await Promise.all(index.runs.map((_, number) => side(place, number)));
        const title = `${place.task.name} / ${place.problem} / sample ${place.sample}`;
        parts = [element("h3", {}, title), steps(place), element("div", { class: "sides" }, sides)];
      } catch (error) {
        const why = `The long texts are in the folder ${index.folder} next to this page, and the folder is missing`;
        parts = [element("p", { class: "notice bad" }, `${why} (${error.message}).`)];
      }
    }
    if (turn !== latest) return;
    target.replaceChildren(...parts);
    target.scrollIntoView({ block: "start" });
  }

  options(byId("f-task"), [["", "all"], ...index.tasks.map((task, number) => [String(number), task.name])]);
  const seen = new Set();
  for (const task of index.tasks) {
    for (const run of task.runs) for (const code of run ? new Set(run.status) : []) if (code !== ".") seen.add(code);
  }
  options(byId("f-status"), [["", "any"], ...index.statuses.filter((_, i) => seen.has(i.toString(36))).map((s) => [s, words(s)])]);
  options(byId("f-run"), [["", "any"], ...index.runs.map((name, number) => [String(number), name])]);
  byId("f-unit").textContent = [...new Set(index.tasks.map((task) => task.unit))].join(" or ");
  if (index.runs.length < 2) for (const id of ["f-run", "f-flip"]) byId(id).closest("label").hidden = true;
  byId("filters").hidden = byId("browser").hidden = false;
  byId("filters").addEventListener("input", search);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", open);
  search();
  open();
})();
