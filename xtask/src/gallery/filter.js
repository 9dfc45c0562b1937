(() => {
  "use strict";
  const filter = document.querySelector("#filter");
  const [input, count] = [filter.querySelector("input"), filter.querySelector("span")];
  const parts = [...document.querySelectorAll("article, .item")];
  const sections = [...document.querySelectorAll("section")];
  const groups = [...document.querySelectorAll("details.group")];
  // The data of the players is not what a reader looks for.
  const words = (part) => {
    const copy = part.cloneNode(true);
    copy.querySelectorAll("script").forEach((script) => script.remove());
    return copy.textContent.toLowerCase();
  };
  let texts = null;
  /** Number of letters to insert, delete, replace or swap to make one word of another. */
  const distance = (a, b) => {
    let [older, row] = [[], [...Array(b.length + 1).keys()]];
    for (let i = 1; i <= a.length; i += 1) {
      const next = [i];
      for (let j = 1; j <= b.length; j += 1) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
        if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) next[j] = Math.min(next[j], older[j - 2] + 1);
      }
      [older, row] = [row, next];
    }
    return row[b.length];
  };
  /** Names the nearest word of the page for the first word that no part has, as a button that searches for it. */
  const suggest = (wanted) => {
    const missing = wanted.find((word) => !texts.some((text) => text.includes(word)));
    if (missing === undefined) {
      count.textContent = "Nothing has all of these words.";
      return;
    }
    const known = new Set(texts.flatMap((text) => text.match(/[\p{L}][\p{L}\d-]{2,}/gu) ?? []));
    const [[far, near] = [Infinity]] = [...known]
      .filter((word) => Math.abs(word.length - missing.length) <= 2)
      .map((word) => [distance(missing, word), word])
      .sort(([a, u], [b, v]) => a - b || u.length - v.length);
    count.textContent = `Nothing has \u201c${missing}\u201d.`;
    if (far > Math.max(1, Math.floor(missing.length / 3))) return;
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: near });
    button.addEventListener("click", () => {
      input.value = wanted.map((word) => (word === missing ? near : word)).join(" ");
      input.dispatchEvent(new Event("input"));
    });
    count.append(" Did you mean ", button, "?");
  };
  filter.hidden = false;
  input.addEventListener("input", () => {
    texts ??= parts.map(words);
    const wanted = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    parts.forEach((part, k) => {
      part.hidden = !wanted.every((word) => texts[k].includes(word));
      if (!part.hidden) shown += 1;
    });
    // A heading over nothing goes with what stood below it; a group with a hit opens.
    sections.forEach((section) => {
      section.hidden = !section.querySelector("article:not([hidden]), .item:not([hidden])");
    });
    groups.forEach((group) => { group.open = wanted.length ? true : wide; });
    count.textContent = wanted.length ? `${shown} of ${parts.length}` : "";
    if (shown === 0) suggest(wanted);
  });
  // Folded on a phone; on a wide screen the cards are seen at once.
  const wide = matchMedia("(min-width: 42rem)").matches;
  groups.forEach((group) => { group.open = wide; });
  // A place in a folded table is opened.
  const open = () => {
    const place = document.getElementById(location.hash.slice(1));
    for (let part = place; part; part = part.parentElement) if (part.matches("details")) part.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
