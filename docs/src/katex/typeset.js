"use strict";

/** Typesets the formulas in some elements of a page that has KaTeX; `output` is KaTeX's option. */
const renderFormulas = (elements, output) => {
  // Rustdoc turns quotes, dashes and dots of the source into typographic characters.
  const ascii = (tex) => tex
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/\u2014/g, "---")
    .replace(/\u2013/g, "--")
    .replace(/\u2026/g, "...");

  for (const element of elements) {
    renderMathInElement(element, {
      delimiters: [
        { left: "$$", right: "$$", display: true },
        { left: "$", right: "$", display: false },
      ],
      ignoredTags: ["script", "noscript", "style", "textarea", "pre", "code", "option"],
      preProcess: ascii,
      throwOnError: false,
      output,
    });
  }
};

/**
 * Typesets the formulas in some elements of a page with the KaTeX of the first folder that has it.
 * If none has, the TeX source stays, which is readable.
 */
const typesetFormulas = async (elements, folders) => {
  const load = (tag, properties) => new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.onload = resolve;
    element.onerror = () => { element.remove(); reject(); };
    document.head.append(element);
  });

  for (const folder of folders) {
    try {
      await load("script", { src: folder + "katex.min.js" });
      await load("script", { src: folder + "auto-render.min.js" });
      await load("link", { rel: "stylesheet", href: folder + "katex.min.css" });
    } catch {
      continue;
    }
    renderFormulas(elements, "htmlAndMathml");
    return;
  }
};
