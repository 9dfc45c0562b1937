// Formulas in the book, without a network. Missing files leave the TeX source readable.
(() => {
  "use strict";
  const page = document.querySelector("main");
  if (!page || !page.textContent.includes("$")) return;

  // This script lies in the root of the book: docs/book, or a published copy.
  const root = new URL(".", document.currentScript.src).href;
  const places = [root + "../katex/", root + "katex/"];

  const load = (tag, properties) => new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.onload = resolve;
    element.onerror = () => { element.remove(); reject(); };
    document.head.append(element);
  });

  // The book turns quotes, dashes and dots of the source into typographic characters.
  const ascii = (tex) => tex
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/\u2014/g, "---")
    .replace(/\u2013/g, "--")
    .replace(/\u2026/g, "...");

  const typeset = async () => {
    for (const place of places) {
      try {
        await load("script", { src: place + "katex.min.js" });
        await load("script", { src: place + "auto-render.min.js" });
        await load("link", { rel: "stylesheet", href: place + "katex.min.css" });
      } catch {
        continue;
      }
      renderMathInElement(page, {
        delimiters: [
          { left: "$$", right: "$$", display: true },
          { left: "$", right: "$", display: false },
        ],
        ignoredTags: ["script", "noscript", "style", "textarea", "pre", "code", "option"],
        preProcess: ascii,
        throwOnError: false,
      });
      return;
    }
  };
  typeset();
})();
