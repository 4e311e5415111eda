"use strict";
// Keys of the pages of a review, and the time that an item is on the screen. Pages work without this script.
// Only the content of `main` is replaced from item to item. If that fails, the browser loads the page itself.
(() => {
  let since = performance.now(), busy = false;
  const main = () => document.querySelector("main");

  const show = (text, url) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    if (!fresh.querySelector("main") || fresh.querySelector("#token")) { location.assign(url); return; }
    main().replaceWith(fresh.querySelector("main"));
    document.title = fresh.title;
    if (url !== location.href) history.pushState(null, "", url);
    scrollTo(0, 0);
    const heading = main().querySelector("h1");
    if (heading) { heading.tabIndex = -1; heading.focus({ preventScroll: true }); }
    since = performance.now();
  };

  const visit = async (url, options, otherwise) => {
    if (busy) return;
    busy = true;
    let answer, text;
    try {
      answer = await fetch(url, { ...options, headers: { Accept: "text/html" } });
      text = await answer.text();
    } catch {
      otherwise(); // The same form again counts once.
      return;
    }
    busy = false;
    show(text, answer.url);
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!main().contains(form)) return;
    event.preventDefault();
    const seconds = form.elements.namedItem("seconds");
    if (seconds) seconds.value = ((performance.now() - since) / 1000).toFixed(1);
    const body = new URLSearchParams(new FormData(form)), button = event.submitter;
    if (button && button.name) body.append(button.name, button.value);
    visit(form.action, { method: "POST", body }, () => {
      if (button && button.name) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: button.name, value: button.value }));
      form.submit();
    });
  });
  addEventListener("popstate", () => location.reload());
  addEventListener("pageshow", () => { busy = false; });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const comment = document.getElementById("comment");
    if (event.key === "c" && comment) { event.preventDefault(); comment.focus(); return; }
    const target = /^[0-9a-z]$/.test(event.key) && document.querySelector(`main [data-key="${event.key}"]`);
    if (!target || event.repeat) return;
    if (target.href) visit(target.href, {}, () => location.assign(target.href)); else target.click();
  });
})();
