"use strict";
// The sample browser. Texts of models only ever become text nodes: no markup is made from them.
(() => {
  const index = JSON.parse(document.getElementById("index").textContent);
  const chunks = new Map(JSON.parse(document.getElementById("texts").textContent).entries());
  const nonce = document.currentScript.nonce;
  const waiting = new Map();
  const byId = (id) => document.getElementById(id);
  const PAGE = 200;
  const GROUP = 16;
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
  const answerOf = (run, at) => (run && run.said[at] >= 0 ? run.answers[run.said[at]] : null);
  const mathematics = window.genbenchMathematics;
  let plain = false;
  const renders = () => !plain && mathematics.available && byId("f-math").checked;
  const plainNode = (text) => document.createTextNode(visible(text));
  const formulas = (text) => (renders() ? mathematics.nodes(text, plainNode) : [text]);
  const short = (text) => (renders() ? mathematics.value(text, plainNode) : [text]);
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
      text: byId("f-text").value.trim().toLowerCase(),
      order: byId("f-order").value,
    };
  }

  // Full text: the chunks are read one after the other, and what they contain is kept only by its key.
  let textHits = { text: "", keys: null };
  async function searchTexts(text, turn) {
    const keys = new Set();
    const numbers = new Set();
    for (const task of index.tasks) {
      for (const run of task.runs) if (run) for (const number of [...run.chunks, ...run.asks]) numbers.add(number);
    }
    numbers.delete(-1);
    let done = 0;
    for (const number of numbers) {
      const known = chunks.has(number);
      const records = await chunk(number);
      for (const [key, record] of Object.entries(records)) {
        if (contains(record, text)) keys.add(key.slice(key.indexOf("\n") + 1));
      }
      if (!known) chunks.delete(number);
      if (turn !== searching) return null;
      if (++done % 4 === 0) byId("count").textContent = `searching ${done} of ${numbers.size} files …`;
    }
    return keys;
  }
  function contains(value, text) {
    if (typeof value === "string") return value.toLowerCase().includes(text);
    return value !== null && typeof value === "object" && Object.values(value).some((inner) => contains(inner, text));
  }
  function hasText(task, problem, row, sample, at, want) {
    if (task.questions[row].toLowerCase().includes(want.text)) return true;
    if (task.runs.some((run) => (answerOf(run, at) ?? "").toLowerCase().includes(want.text))) return true;
    const key = `${task.name}\n${problem}`;
    return textHits.keys.has(key) || textHits.keys.has(`${key}\n${sample}`);
  }

  let found = [];
  let shown = 0;
  let searching = 0;
  async function search() {
    const want = wanted();
    const turn = ++searching;
    if (want.text && want.text !== textHits.text) {
      let keys = null;
      try {
        keys = await searchTexts(want.text, turn);
      } catch (error) {
        keys = new Set();
        byId("sample").replaceChildren(element("p", { class: "notice bad" }, lost(error)));
      }
      if (keys === null || turn !== searching) return;
      textHits = { text: want.text, keys };
    }
    found = [];
    index.tasks.forEach((task, number) => {
      if (want.task !== "" && Number(want.task) !== number) return;
      task.ids.forEach((problem, row) => {
        if (want.problem && !problem.toLowerCase().includes(want.problem)) return;
        for (let sample = 0; sample < task.k; sample++) {
          const at = row * task.k + sample;
          if (!matches(task, at, want)) continue;
          if (want.text && !hasText(task, problem, row, sample, at, want)) continue;
          found.push({ task, number, problem, row, sample, at });
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
    shown = 0;
    more();
    select();
  }

  // Appends the next entries. A problem is never divided between two pages.
  function more() {
    const list = byId("list");
    list.querySelector(".more")?.remove();
    const grouped = byId("f-group").value === "problem" && !byId("f-order").value;
    let end = Math.min(shown + PAGE, found.length);
    while (grouped && end < found.length && same(found[end], found[end - 1])) end++;
    const hits = found.slice(shown, end);
    shown = end;
    if (grouped) for (const hits_ of groups(hits)) list.append(group(hits_));
    else list.append(...hits.map((hit) => entry(hit, true)));
    if (shown < found.length) {
      const label = `show more (${(found.length - shown).toLocaleString("en")})`;
      list.append(element("li", { class: "more" }, element("button", { type: "button", click: () => (more(), mark()) }, label)));
    }
  }
  const same = (one, other) => one.number === other.number && one.row === other.row;
  function groups(hits) {
    const made = [];
    for (const hit of hits) {
      const last = made[made.length - 1];
      if (last && same(last[0], hit)) last.push(hit);
      else made.push([hit]);
    }
    return made;
  }

  function group(hits) {
    const { task, problem, row } = hits[0];
    const means = task.runs.map((run) => {
      const scores = hits.map((hit) => scoreOf(run, hit.at)).filter((score) => score !== null);
      return scores.length ? (100 * scores.reduce((sum, score) => sum + score, 0) / scores.length).toFixed(0) : "-";
    });
    const head = element("span", { class: "where" }, `${task.name} / ${problem}`);
    const mean = element("span", { class: "small" }, means.join(" → "));
    const samples = element("ol", {}, hits.slice(0, GROUP).map((hit) => entry(hit, false)));
    if (hits.length > GROUP) {
      const rest = () => samples.replaceChildren(...hits.map((hit) => entry(hit, false)));
      const button = element("button", { type: "button", click: () => (rest(), mark()) }, `all ${hits.length} samples`);
      samples.append(element("li", { class: "rest" }, button));
    }
    return element("li", { class: "group" }, element("div", { class: "head" }, head, mean), question(task, row), samples);
  }
  const question = (task, row) =>
    task.questions[row] ? element("div", { class: "question" }, formulas(task.questions[row])) : null;

  function entry(hit, whole) {
    const states = hit.task.runs.map((run) => {
      const status = statusOf(run, hit.at);
      const answer = answerOf(run, hit.at);
      const said = answer === null ? [] : [" ", element("span", { class: "said" }, short(answer))];
      return element("span", { class: `status s-${status}` }, words(status), said);
    });
    const href = hashOf(hit.task.name, hit.problem, hit.sample);
    if (!whole) return element("li", {}, element("a", { href }, element("span", { class: "nth" }, `${hit.sample}`), states));
    const where = element("span", { class: "where" }, `${hit.task.name} / ${hit.problem} / ${hit.sample}`);
    return element("li", {}, element("a", { href }, where, question(hit.task, hit.row), element("div", {}, states)));
  }

  const linkTo = (hash) => [...byId("list").querySelectorAll("a")].find((link) => link.getAttribute("href") === hash);
  function mark() {
    for (const link of byId("list").querySelectorAll("a[aria-current]")) link.removeAttribute("aria-current");
    const link = linkTo(location.hash);
    if (link) link.setAttribute("aria-current", "true");
    return link;
  }
  const placeOf = (place) => found.findIndex((hit) => hit.at === place.at && hit.number === place.taskNumber);
  // Selects the row of the open sample. The list is extended until the row is in it.
  function select() {
    const place = parse(location.hash);
    if (place === null || place.missing) return void mark();
    const at = placeOf(place);
    while (at >= shown && shown < found.length) more();
    if (at >= 0 && !linkTo(location.hash)) {
      for (const button of byId("list").querySelectorAll(".rest button")) button.click();
    }
    const link = mark();
    const list = byId("list");
    if (link) list.scrollTop += link.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
  }

  // Keys: the list, problems, samples and turns, the search, and mathematics.
  function go(hit) {
    if (hit) location.hash = hashOf(hit.task.name, hit.problem, hit.sample);
  }
  function stepInList(by, otherProblem) {
    const place = parse(location.hash);
    let at = place && !place.missing ? placeOf(place) : -1;
    if (at < 0) return go(found[0]);
    const from = found[at];
    do at += by;
    while (otherProblem && found[at] && same(found[at], from));
    go(found[at]);
  }
  function stepSample(by) {
    const place = parse(location.hash);
    if (!place || place.missing) return;
    const sample = place.sample + by;
    if (sample >= 0 && sample < place.task.k) go({ task: place.task, problem: place.problem, sample });
  }
  // The turns of the open sample, run by run. The first one below the top of the window is the one looked at.
  function stepTurn(by) {
    const turns = [...byId("sample").querySelectorAll(".turn")];
    const focused = turns.indexOf(document.activeElement.closest(".turn"));
    const below = turns.findIndex((turn) => turn.getBoundingClientRect().top > 1);
    const at = focused >= 0 ? focused + by : by > 0 ? below : (below < 0 ? turns.length : below) - 1;
    if (!turns[at]) return;
    turns[at].focus({ preventScroll: true });
    turns[at].scrollIntoView({ block: "start" });
  }
  const keys = {
    j: () => stepInList(1, false),
    k: () => stepInList(-1, false),
    n: () => stepInList(1, true),
    p: () => stepInList(-1, true),
    "]": () => stepTurn(1),
    "[": () => stepTurn(-1),
    l: () => stepSample(1),
    h: () => stepSample(-1),
    m: () => byId("f-math").click(),
    "/": () => byId("f-text").focus(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return document.activeElement.blur();
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName) || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  // The lines of unified diffs in a text, by what they are: file, hunk, add, del, or none of them.
  function diffed(text) {
    if (!/^(?:diff --git |--- )/m.test(text)) return null;
    const found = [];
    const lines = text.split(/(?<=\n)/);
    let where = "";
    lines.forEach((line, at) => {
      const begins = line.startsWith("diff --git ") || (line.startsWith("--- ") && (lines[at + 1] || "").startsWith("+++ "));
      let kind = "";
      if (begins) kind = where = "file";
      else if (where && line.startsWith("@@ ")) kind = where = "hunk";
      else if (where === "file") kind = /^(?:\+\+\+ |index |new |deleted |old |similarity |rename |copy |Binary )/.test(line) ? "file" : (where = "");
      else if (where === "hunk") kind = { "+": "add", "-": "del" }[line[0]] || (/^[ \\\n]/.test(line) ? "" : (where = ""));
      if (found.length && found[found.length - 1][0] === kind) found[found.length - 1][1] += line;
      else found.push([kind, line]);
    });
    return found.some(([kind]) => kind === "hunk") ? found : null;
  }

  // In blocks of lines: the layout of one block takes time that grows with the square of its length.
  function pieces(text) {
    const parts = diffed(text);
    if (parts) return parts.map(([kind, part]) => (kind ? element("span", { class: `d-${kind}` }, part) : part));
    const found = [];
    for (let start = 0; start < text.length; ) {
      const line = text.lastIndexOf("\n", start + PIECE) + 1;
      const end = line > start ? line : start + PIECE;
      found.push(text.slice(start, end));
      start = end;
    }
    const class_ = found.length > 1 ? "piece" : null;
    return found.map((piece) => element("div", { class: class_ }, formulas(piece)));
  }

  // The beginning of a text, and a button for the rest: megabytes on a page would halt it.
  function beginning(name, text, limit) {
    // A long text scrolls in its own box, which a keyboard must reach.
    const holder = element(name, { tabindex: name === "pre" ? "0" : null }, pieces(text.slice(0, limit)));
    if (text.length <= limit) return [holder];
    const button = element("button", { type: "button" }, `show all ${text.length.toLocaleString("en")} characters`);
    const was = plain;
    button.addEventListener("click", () => {
      plain = was;
      holder.replaceChildren(...pieces(text));
      plain = false;
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

  // Lists and objects as lists: nobody has to read JSON. Texts that are JSON of either kind are read as such.
  function structured(value) {
    if (Array.isArray(value)) {
      return element("ol", { class: "values" }, value.map((item) => element("li", {}, structured(item))));
    }
    if (value !== null && typeof value === "object") {
      const entries = Object.entries(value).filter(([, inner]) => inner !== null);
      const cells = ([key, inner]) => [element("dt", {}, key.replaceAll("_", " ")), element("dd", {}, structured(inner))];
      return element("dl", { class: "values" }, entries.flatMap(cells));
    }
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value === "string" && diffed(value)) return beginning("pre", value, LONG);
    return value === null || value === undefined ? "-" : String(value);
  }
  function readable(text) {
    if (/^\s*[[{]/.test(text)) {
      try {
        return structured(JSON.parse(text));
      } catch {
        return null;
      }
    }
    return null;
  }
  function fact(value) {
    if (value !== null && typeof value === "object") return [structured(value)];
    const text = String(value);
    if (diffed(text)) return [structured(text)].flat();
    const tree = readable(text);
    if (tree !== null) return [tree];
    return text.length <= FACT ? [element("div", {}, short(text))] : beginning("div", text, FACT);
  }

  function facts(run, record, reference, at, unit) {
    const rows = [
      ["verdict", `${words(statusOf(run, at))}, score ${scoreOf(run, at) ?? "-"}`],
      ["extracted", record.extracted ?? "(nothing)"],
      ["reference", reference ?? "(not kept)"],
      ["length", `${run.tokens[at].toLocaleString("en")} ${unit}`],
      ["ended by", record.rollout ? (record.detail.rollout?.ended_by ?? "its harness") : record.finish_reason],
      ["seed", record.seed ?? "-"],
    ];
    for (const [key, value] of Object.entries(record.detail)) rows.push([key.replaceAll("_", " "), value]);
    const failed = Object.entries(record.parts).filter(([, score]) => score < 1);
    if (failed.length) rows.push(["not met", failed.map(([name, score]) => `${name} (${score})`)]);
    const cells = ([name, text]) => [element("dt", {}, name), element("dd", {}, fact(text))];
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
    plain = record.rollout; // $ is a variable of a shell there
    const turns = record.turns.flatMap((turn, which) => turnOf(record, turn, which));
    const parts = [facts(run, record, ask.reference, at, task.unit), block("Prompt", ask.prompt, true), turns];
    plain = false;
    return element("div", { class: `side s-${status}` }, head, parts.flat());
  }

  // One reply: what the model was sent, its trace, what it said, and the functions that it called.
  function turnOf(record, turn, which) {
    if (!record.rollout && record.turns.length === 1) {
      return [turn.trace ? block("Trace", turn.trace, true) : [], block("Answer", turn.answer.replace(/^\n+/, ""), false)].flat();
    }
    const took = [
      turn.completion_tokens === null ? null : `${turn.completion_tokens.toLocaleString("en")} tokens`,
      turn.seconds === null ? null : `${turn.seconds.toFixed(1)} s`,
      turn.finish_reason === "stop" ? null : `ended by ${turn.finish_reason}`,
    ].filter((part) => part !== null);
    const touched = turn.touched ? element("strong", { class: "bad" }, " touched history or network") : null;
    const head = element("h4", {}, `Turn ${which + 1} `, element("span", { class: "small" }, took.join(", ")), touched);
    const said = (turn.said ?? turn.answer).replace(/^\n+/, "");
    const calls = turn.calls.map((call) => element("div", { class: "call" }, element("h5", {}, call.name), argumentsOf(call.arguments)));
    const parts = [
      turn.sent === null ? [] : sentOf(turn, which),
      turn.trace ? block("Trace", turn.trace, true) : [],
      said || !calls.length ? beginning("pre", said || "(empty)", LONG) : [],
      calls,
      calls.length ? block("As drawn", turn.answer, true) : [],
    ];
    return element("section", { class: "turn", tabindex: "-1" }, head, parts.flat());
  }
  // A short result is open. A first prompt, or one that begins anew, is a whole conversation.
  function sentOf(turn, which) {
    const title = turn.new ? "Sent, another conversation" : which ? "Sent" : "First prompt";
    const made = block(title, turn.sent, true);
    if (which && !turn.new && turn.sent.length <= FACT) made.setAttribute("open", "");
    return [made];
  }
  function argumentsOf(values) {
    const cells = ([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
      return [element("dt", {}, name), element("dd", {}, beginning("pre", text, LONG))];
    };
    return element("dl", {}, Object.entries(values).flatMap(cells));
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
    return { task, taskNumber, problem: task.ids[row], row, sample, at: row * task.k + sample };
  }

  const lost = (error) =>
    `The long texts are in the folder ${index.folder} next to this page, and the folder is missing (${error.message}).`;
  let latest = 0;
  async function open() {
    const place = parse(location.hash);
    select();
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
        parts = [element("p", { class: "notice bad" }, lost(error))];
      }
    }
    if (turn !== latest) return;
    target.replaceChildren(...parts);
    if (target.getBoundingClientRect().top < 0 || target.getBoundingClientRect().top > innerHeight / 2) {
      target.scrollIntoView({ block: "start" });
    }
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
  byId("filters").hidden = byId("browser").hidden = byId("keys").hidden = false;
  byId("f-math-label").hidden = !mathematics.available;
  let pause = 0;
  byId("filters").addEventListener("input", (event) => {
    clearTimeout(pause);
    if (event.target.id === "f-math") return void (search(), open());
    if (event.target.id === "f-text") pause = setTimeout(search, 250);
    else search();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", open);
  search();
  open();
})();
