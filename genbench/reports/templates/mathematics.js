"use strict";
// LaTeX in texts becomes MathML. Temml makes elements, never markup from text, and trusts no command.
window.genbenchMathematics = (() => {
  const LONGEST = 4000;
  const MOST = 400;
  // \( \), \[ \], $$ $$, and $ $ with no blank inside its ends and no digit after it ("$5 and $6" are prices).
  // \boxed{ } of up to three levels is a formula by itself.
  const formula = /\\\[([\s\S]+?)\\\]|\\\(([\s\S]+?)\\\)|\$\$([\s\S]+?)\$\$|\$(?![\s$])((?:[^$\\\n]|\\[\s\S])*?[^\s$\\]|[^\s$\\])\$(?!\d)|(\\boxed\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})/g;

  function rendered(latex, display) {
    if (typeof temml === "undefined" || latex.length > LONGEST) return null;
    const holder = document.createElement("span");
    holder.className = "formula";
    holder.title = latex;
    try {
      temml.render(latex, holder, { displayMode: display, throwOnError: true, trust: false, maxExpand: 200, maxSize: [20, 200] });
    } catch {
      return null;
    }
    return holder;
  }

  // A text as nodes. `plain` makes a text node of what is not a formula, and of what cannot be rendered.
  function nodes(text, plain) {
    const made = [];
    let end = 0;
    let count = 0;
    for (const match of text.matchAll(formula)) {
      if (++count > MOST) break;
      const display = match[1] !== undefined || match[3] !== undefined;
      const holder = rendered(match[1] ?? match[2] ?? match[3] ?? match[4] ?? match[5], display);
      if (holder === null) continue;
      made.push(plain(text.slice(end, match.index)), holder);
      end = match.index + match[0].length;
    }
    made.push(plain(text.slice(end)));
    return made;
  }

  // A short value such as an extracted answer: wholly LaTeX if it has a command and no delimiters. Without a
  // command ^ and _ are signs of names too, and a formula would hide blanks and braces: get_weather_of city,
  // 2^10. So it is one only without words, without blanks inside, and if one sign or a group is raised or lowered.
  const name = /\p{L}{2}|[\p{L}\d]\s+[\p{L}\d]|[\^_](?!\{|[-+]?[\p{L}\d](?![\p{L}\d]))/u;
  // With a command, words that stand outside of \text{ } make a sentence: "The answer is \frac{1}{2}".
  const words = /\\(?:text|mbox|mathrm|operatorname)[a-z]*\s*\{[^{}]*\}|\\[a-zA-Z]+/g;
  const sentence = /(?:^|\s)\p{L}{3,}(?=[\s.,:;]|$)|\p{L}{2,}\s+\p{L}{2,}/u;
  const isLatex = (text) => /\\[a-zA-Z]/.test(text) && !sentence.test(text.replace(words, " "));
  function value(text, plain) {
    if ((isLatex(text) || (/[\^_]/.test(text) && !/\\[a-zA-Z]/.test(text) && !name.test(text))) && !/[$]|\\[([]/.test(text) && text.length < 300) {
      const holder = rendered(text, false);
      if (holder !== null) return [holder];
    }
    return nodes(text, plain);
  }

  return { nodes, value, available: typeof temml !== "undefined" };
})();
