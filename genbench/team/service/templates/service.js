"use strict";
// Charts that can be zoomed and say their values, keys for turns and samples, and the progress of jobs. Pages are complete without this script.
(() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const points = (values) => values.map((value) => (value === null ? null : Math.round(value * 1000) / 10));

  // Lines and bands break where terms or data change, and where a value is not known.
  const stretches = (data) => {
    const found = [];
    data.value.forEach((value, row) => {
      if (value === null) return;
      const last = found[found.length - 1];
      const goes_on = last && last[last.length - 1] === row - 1 && data.epoch[row] === data.epoch[row - 1];
      if (goes_on) last.push(row); else found.push([row]);
    });
    return found;
  };

  const band = (data, rows, low, high, opacity) => {
    const known = rows.filter((row) => data[low][row] !== null && data[high][row] !== null);
    const pick = (values) => points(known.map((row) => values[row]));
    const x = known.map((row) => data.x[row]);
    return {
      x: x.concat([...x].reverse()), y: pick(data[high]).concat(pick(data[low]).reverse()), fill: "toself",
      mode: "lines", line: { width: 0 }, fillcolor: css("--m2"), opacity, hoverinfo: "skip",
    };
  };

  const traces = (data) => {
    const parts = stretches(data);
    const lines = parts.map((rows) => ({
      x: rows.map((row) => data.x[row]), y: points(rows.map((row) => data.value[row])),
      mode: "lines+markers", line: { color: css("--m2"), width: 2 }, marker: { size: 6 },
      customdata: rows.map((row) => data.uid[row]), text: rows.map((row) => data.text[row]),
      hovertemplate: "%{text}<extra></extra>",
    }));
    return [
      ...parts.map((rows) => band(data, rows, "low", "high", 0.13)),
      ...parts.map((rows) => band(data, rows, "rerun_low", "rerun_high", 0.25)), ...lines,
    ];
  };

  const layout = (data) => {
    const mark = (change) => ({
      type: "line", x0: change.x, x1: change.x, yref: "paper", y0: 0, y1: 1,
      line: { color: css(change.direction === "drop" ? "--bad" : "--good"), width: 2, dash: change.is_open ? "solid" : "dash" },
    });
    const label = (change) => ({
      x: change.x, y: 1, yref: "paper", xanchor: "right", yanchor: "top", showarrow: false, text: change.label,
      font: { color: css(change.direction === "drop" ? "--bad" : "--good"), size: 13 },
    });
    const axis = { gridcolor: css("--rule"), linecolor: css("--rule"), zerolinecolor: css("--soft"), automargin: true };
    return {
      height: data.is_small ? 240 : 380, margin: { l: 44, r: 12, t: 34, b: 30 }, showlegend: false, hovermode: "closest",
      paper_bgcolor: css("--paper"), plot_bgcolor: css("--paper"), font: { color: css("--ink"), size: 13, family: "system-ui, sans-serif" },
      xaxis: { ...axis, type: data.is_dates ? "date" : "linear" }, yaxis: { ...axis, title: { text: data.title } },
      shapes: data.changes.map(mark), annotations: data.changes.map(label), dragmode: "zoom", hoverlabel: { align: "left" },
    };
  };

  const draw = async (figure) => {
    const data = JSON.parse(figure.dataset.plot);
    const place = document.createElement("div");
    place.className = "zoomed";
    await Plotly.newPlot(place, traces(data), layout(data), {
      displaylogo: false, responsive: true, displayModeBar: !data.is_small,
      modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
    });
    figure.querySelector("svg.trend").replaceWith(place);
    Plotly.Plots.resize(place);
    place.on("plotly_click", (event) => {
      const uid = event.points[0].customdata;
      if (uid) location.href = "/runs/" + encodeURIComponent(uid);
    });
  };

  const figures = [...document.querySelectorAll("figure[data-plot]")];
  const redraw = () => document.querySelectorAll(".zoomed").forEach((place) => {
    const data = JSON.parse(place.closest("figure").dataset.plot);
    Plotly.react(place, traces(data), layout(data));
  });
  if (figures.length && typeof Plotly !== "undefined") {
    // A track of 300 tasks has as many charts, so each is drawn when it comes into view.
    const watch = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
      watch.unobserve(entry.target);
      draw(entry.target);
    }), { rootMargin: "200px" });
    figures.forEach((figure) => watch.observe(figure));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }

  // Keys of the page of a problem: links to others, and the turns that are on it.
  const stepTurn = (by) => {
    const turns = [...document.querySelectorAll(".turn")];
    const focused = turns.indexOf(document.activeElement.closest(".turn"));
    const below = turns.findIndex((turn) => turn.getBoundingClientRect().top > 1);
    const turn = turns[focused >= 0 ? focused + by : by > 0 ? below : (below < 0 ? turns.length : below) - 1];
    if (turn) {
      turn.focus({ preventScroll: true });
      turn.scrollIntoView({ block: "start" });
    }
  };
  if (document.querySelector(".turn")) document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    if (event.key === "]" || event.key === "[") stepTurn(event.key === "]" ? 1 : -1);
    else if (/^[hlnp]$/.test(event.key)) document.querySelector(`[data-key="${event.key}"]`)?.click();
  });

  const live = () => document.getElementById("live");
  const renew = async () => {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("live");
      if (answer.ok && fresh) live().replaceWith(fresh);
    } catch { /* The next try may succeed. */ }
    if (live().dataset.state === "live") setTimeout(renew, 3000);
  };
  if (live() && live().dataset.state === "live") setTimeout(renew, 3000);
})();
