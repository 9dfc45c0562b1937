// Formulas, contents and search of the book; without a network and without a server.
(() => {
  "use strict";
  for (const formula of window.katex ? document.querySelectorAll(".math") : []) {
    katex.render(formula.textContent, formula, {
      displayMode: formula.classList.contains("display"), throwOnError: false });
  }
  const contents = document.querySelector(".contents");
  if (!contents) return;
  const list = contents.querySelector("details");
  if (matchMedia("(min-width: 60rem)").matches) list.open = true;
  const here = location.pathname.split("/").pop() || "index.html";
  list.querySelector(`a[href="${CSS.escape(here)}"]`)?.setAttribute("aria-current", "page");

  const [field, found] = [contents.querySelector("#search"), contents.querySelector("#found")];
  const input = field.querySelector("input");
  field.hidden = false;
  // The words of all chapters come with the first key.
  let sections = null;
  window.caromSearch = (rows) => {
    sections = rows.map(([place, chapter, title, text]) =>
      ({ place, chapter, title, text, low: text.toLowerCase(), head: `${chapter} ${title}`.toLowerCase() }));
    show();
  };
  const show = () => {
    const words = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    list.hidden = !found.hidden;
    if (found.hidden || !sections) return;
    const score = (s) => words.reduce((sum, word) => {
      const n = s.low.split(word).length - 1;
      return s.head.includes(word) ? sum + 100 + n : n > 0 ? sum + Math.min(n, 20) : -Infinity;
    }, 0);
    const hits = sections.map((s) => [score(s), s]).filter(([n]) => n > 0).sort(([a], [b]) => b - a);
    found.replaceChildren(...hits.slice(0, 30).map(([, s]) => {
      const item = document.createElement("li");
      const link = Object.assign(document.createElement("a"), { href: s.place,
        textContent: s.title && s.title !== s.chapter ? `${s.chapter}: ${s.title}` : s.chapter });
      const at = Math.max(0, s.low.indexOf(words[0]) - 40);
      const line = Object.assign(document.createElement("small"), { textContent: s.text.slice(at, at + 120) });
      item.append(link, line);
      return item;
    }));
    if (hits.length === 0) found.textContent = "No section has all of these words.";
  };
  input.addEventListener("input", () => {
    if (sections) return show();
    sections = [];
    document.head.append(Object.assign(document.createElement("script"), { src: "search.js" }));
  });
})();
