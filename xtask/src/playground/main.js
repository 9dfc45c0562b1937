// The page: tabs, controls, the line asked, the line answered.
const $ = (selector) => document.querySelector(selector);
const states = new Map(TABS.map((tab) => [tab.name, { ...tab.start }]));
let engine = null;
let current = balls;
let asked = { text: "", command: "resolve" };
// A question that waits until the worker is free.
let waiting = null;
let isBusy = false;

const fault = (error) => {
  document.body.dataset.errors = Number(document.body.dataset.errors) + 1;
  say(`This is a fault of carom: ${error?.message ?? error}`);
};
const say = (text) => {
  $("#message").textContent = text;
  $("#message").hidden = text === "";
};
addEventListener("error", (event) => fault(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => fault(event.reason));

// Outcomes whose velocities differ, each with its number of samples.
const SAME = 1e-6;
const outcomesOf = (answer) => {
  const distinct = [];
  for (const one of (answer.outcomes ?? [answer]).filter((each) => Array.isArray(each.velocity_plus))) {
    const size = 1 + Math.hypot(...one.velocity_plus);
    const known = distinct.find(({ outcome }) => one.velocity_plus.every((x, i) => Math.abs(x - outcome.velocity_plus[i]) <= SAME * size));
    if (known) known.count += 1;
    else distinct.push({ outcome: one, count: 1 });
  }
  return distinct.map(({ outcome, count }) => ({ ...outcome, count }));
};

const shownTable = (outcomes) => {
  if (outcomes.length === 0) return "";
  const counted = outcomes.some((one) => one.count > 1);
  const rows = outcomes.slice(0, 60).map((one, k) => {
    const sequence = one.diagnostics?.sequence;
    const energy = one.energy_minus_j > 0 ? short(one.energy_plus_j / one.energy_minus_j) : "–";
    const line = `<svg width="34" height="12" aria-hidden="true"><line x1="1" y1="6" x2="33" y2="6" ${paint(k)} stroke-width="3"/></svg>`;
    return `<tr><td>${letter(k)} ${line}</td><td>${one.velocity_plus.map(short).join(", ")}</td><td class="n">${energy}</td>
      ${counted ? `<td class="n">${one.count}</td>` : ""}<td>${Array.isArray(sequence) ? sequence.slice(0, 12).map((i) => i + 1).join(" ") + (sequence.length > 12 ? " …" : "") : ""}</td></tr>`;
  });
  return `<table><thead><tr><th>outcome</th><th>velocity after</th><th class="n">energy kept</th>${counted ? '<th class="n">samples</th>' : ""}<th>contacts in turn</th></tr></thead>
    <tbody>${rows.join("")}</tbody></table>${outcomes.length > 60 ? `<p>and ${outcomes.length - 60} more</p>` : ""}`;
};

const shownAudit = (answer) => {
  if (!answer.audit) return "";
  const part = answer.energy_minus_j > 0 ? Math.min(answer.energy_plus_j / answer.energy_minus_j, 1) : 0;
  const names = { momentum_residual: "momentum", penetration_residual: "penetration", adhesion_residual: "pulling", friction_residual: "friction", constraint_residual: "constraints" };
  const rows = Object.entries(names).map(([key, name]) => `<tr><td>${name}</td><td class="n">${isNumber(answer.audit[key]) ? answer.audit[key].toExponential(1) : "–"}</td></tr>`);
  return `<p>Energy kept by the first outcome: ${short(part * 100)} %</p><div class="bar" role="img" aria-label="Energy kept: ${short(part * 100)} percent"><span style="width:${(100 * part).toFixed(1)}%"></span></div>
    <table><caption>Residuals of the first outcome</caption><tbody>${rows.join("")}</tbody></table>`;
};

const summaryOf = (answer, outcomes) => {
  if (answer.error) return `No answer (${answer.error.kind}): ${answer.error.message}`;
  if (outcomes.length === 0) return "Answered.";
  const spread = answer.diagnostics?.indeterminacy;
  const samples = answer.diagnostics?.samples;
  const several = (outcomes.length === 1 ? "One outcome" : `${outcomes.length} different outcomes`) + (isNumber(samples) ? ` of ${samples} samples` : "");
  return `${several}, ${answer.status}${isNumber(spread) && outcomes.length > 1 ? `; they differ by ${short(spread)} of the momentum before` : ""}.`;
};

const show = (text) => {
  $("#answer").textContent = text;
  const answer = JSON.parse(text);
  const outcomes = outcomesOf(answer);
  $("#summary").textContent = summaryOf(answer, outcomes);
  $("#table").innerHTML = shownTable(outcomes);
  $("#audit").innerHTML = shownAudit(answer);
  if (current !== json) redraw(outcomes);
  document.body.dataset.ready = "true";
};

const redraw = (outcomes) => {
  const focused = document.activeElement?.closest?.(".arrow")?.dataset.x;
  const state = states.get(current.name);
  const draw = { balls: drawBalls, box: drawBox, penny: drawPenny }[current.name];
  const problem = JSON.parse(asked.text);
  $("#picture").innerHTML = draw(state, outcomes) + drawPlane(current, state, problem, outcomes);
  if (focused !== undefined) $(`.arrow[data-x="${focused}"]`)?.focus();
};

const askNow = (text, command) => {
  try {
    show(engine.ask(command, text));
  } catch (error) {
    fault(error);
  }
};

const askInTurn = async (text, command) => {
  waiting = { text, command };
  if (isBusy) return;
  isBusy = true;
  while (waiting) {
    const question = waiting;
    waiting = null;
    const timer = setTimeout(() => ($("#stop").hidden = false), 200);
    document.body.dataset.busy = "true";
    try {
      const answer = await engine.askLater(question.command, question.text);
      if (question.text === asked.text && question.command === asked.command) show(answer);
    } catch (error) {
      if (error instanceof Stopped) {
        $("#answer").textContent = "";
        say(error.message);
      } else {
        fault(error);
      }
    }
    clearTimeout(timer);
    $("#stop").hidden = true;
    delete document.body.dataset.busy;
  }
  isBusy = false;
};

// Asks the line of the current tab: that of its controls, or one that was given.
const ask = (given = null) => {
  const state = states.get(current.name);
  const text = given?.text ?? (current === json ? state.text : JSON.stringify(current.problem(state)));
  const command = given?.command ?? (current === json ? state.command : "resolve");
  asked = { text, command };
  $("#problem").textContent = text;
  writeFragment(current.name, text, command);
  if (current.slow) askInTurn(text, command);
  else askNow(text, command);
};

const change = (key, value) => {
  states.get(current.name)[key] = value;
  say("");
  if (key === "law") showControls();
  ask();
};

const controlOf = (control, state) => {
  const { key, label: name } = control;
  if (control.choices) {
    const options = control.choices.map((one) => `<option${one === state[key] ? " selected" : ""}>${one}</option>`);
    return `<label>${name}<br><select data-key="${key}">${options.join("")}</select></label>`;
  }
  if (control.check) return `<label><input type="checkbox" data-key="${key}"${state[key] ? " checked" : ""}> ${name}</label>`;
  return `<label>${name}: <output>${short(state[key])}</output>
    <input type="range" data-key="${key}" min="${control.min}" max="${control.max}" step="${control.step}" value="${state[key]}"></label>`;
};

const showControls = () => {
  const state = states.get(current.name);
  $("main").classList.toggle("wide", current === json);
  if (current === json) {
    const commands = Object.keys(COMMANDS).map((one) => `<option${one === state.command ? " selected" : ""}>${one}</option>`);
    $("#controls").innerHTML = `<label>Command <select id="command">${commands.join("")}</select></label>
      <label>A line of JSON<textarea id="line" spellcheck="false"></textarea></label><button type="button" id="ask">Answer</button>`;
    $("#line").value = state.text;
    $("#picture").innerHTML = "";
  } else {
    const focused = document.activeElement?.dataset?.key;
    $("#controls").innerHTML = current.controls(state).map((control) => controlOf(control, state)).join("");
    if (focused) $(`#controls [data-key="${focused}"]`)?.focus();
  }
};

$("#controls").addEventListener("input", ({ target }) => {
  const { key } = target.dataset;
  if (!key) return;
  const value = target.type === "checkbox" ? target.checked : target.type === "range" ? Number(target.value) : target.value;
  const output = target.parentElement.querySelector("output");
  if (output) output.textContent = short(value);
  change(key, value);
});
$("#controls").addEventListener("change", ({ target }) => {
  if (target.id === "command") states.get("json").command = target.value;
});
$("#controls").addEventListener("click", ({ target }) => {
  if (target.id !== "ask") return;
  say("");
  states.get("json").text = $("#line").value.replace(/[\r\n]+/g, " ");
  states.get("json").command = $("#command").value;
  ask();
});
$("#stop").addEventListener("click", () => engine.abort());

// Arrows: by keys, and by a pointer anywhere on the page once it holds one.
const move = (element, dx, dy) => {
  const state = states.get(current.name);
  const by = (key, step) => (key && step ? { [key]: Math.max(-9, Math.min(9, rounded(state[key] + step))) } : {});
  const moved = { ...by(element.dataset.x, dx), ...by(element.dataset.y, dy) };
  if (Object.keys(moved).length === 0) return;
  Object.assign(state, moved);
  say("");
  ask();
  if (current.name === "penny") showControls();
};
$("#picture").addEventListener("keydown", (event) => {
  const element = event.target.closest(".arrow");
  const step = event.shiftKey ? 0.5 : 0.05;
  const [dx, dy] = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key] ?? [0, 0];
  if (!element || (dx === 0 && dy === 0)) return;
  event.preventDefault();
  const alone = element.dataset.y === "";
  move(element, alone ? dx + dy : dx, alone ? 0 : dy);
});
$("#picture").addEventListener("pointerdown", (event) => {
  const element = event.target.closest(".arrow");
  if (!element) return;
  event.preventDefault();
  element.focus();
  const state = states.get(current.name);
  const { x, y, scale } = element.dataset;
  const unit = element.ownerSVGElement.getScreenCTM().a * Number(scale);
  const start = [event.clientX, event.clientY, state[x], state[y]];
  const drag = (moved) => {
    const near = (value) => Math.max(-9, Math.min(9, Math.round(value * 100) / 100));
    state[x] = near(start[2] + (moved.clientX - start[0]) / unit);
    if (y) state[y] = near(start[3] - (moved.clientY - start[1]) / unit);
    say("");
    ask();
  };
  const drop = () => {
    removeEventListener("pointermove", drag);
    if (current.name === "penny") showControls();
  };
  addEventListener("pointermove", drag);
  addEventListener("pointerup", drop, { once: true });
  addEventListener("pointercancel", drop, { once: true });
});

const copies = {
  json: ({ text }) => text,
  shell: ({ text, command }) => `printf '%s\\n' '${text.replaceAll("'", "'\\''")}' | carom ${command}`,
  python: ({ text, command }) => `import carom\n\nprint(carom.json_lines("${command}", ${JSON.stringify(text)}), end="")`,
  rust: ({ text, command }) => {
    let marks = "#";
    while (text.includes(`"${marks}`)) marks += "#";
    const name = command[0].toUpperCase() + command.slice(1);
    return `// Cargo.toml: carom-wire = "{VERSION}"\nuse carom_wire::{Command, answer_line};\n\nfn main() {\n    let line = r${marks}"${text}"${marks};\n    println!("{}", answer_line(Command::${name}, 1, line).text);\n}`;
  },
};
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};
$(".copies").addEventListener("click", async ({ target }) => {
  const kind = target.dataset.copy;
  if (!kind) return;
  await copy(copies[kind](asked));
  $("#copied").textContent = `Copied: ${target.textContent.replace("Copy ", "")}.`;
});

const select = (tab) => {
  current = tab;
  for (const button of document.querySelectorAll(".tabs button")) {
    const isThis = button.dataset.tab === tab.name;
    button.setAttribute("aria-selected", isThis);
    button.tabIndex = isThis ? 0 : -1;
  }
  showControls();
};
$(".tabs").innerHTML = TABS.map((tab) => `<button type="button" role="tab" data-tab="${tab.name}">${tab.title}</button>`).join("");
$(".tabs").addEventListener("click", ({ target }) => {
  const tab = TABS.find((one) => one.name === target.dataset.tab);
  if (!tab) return;
  say("");
  select(tab);
  ask();
});
$(".tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = TABS[(TABS.indexOf(current) + step + TABS.length) % TABS.length];
  $(`.tabs [data-tab="${next.name}"]`).focus();
  select(next);
  ask();
});

// Takes the state from the address; what is wrong with it is said, and the start values stand.
const restore = () => {
  let tab = balls;
  try {
    const given = readFragment(location.hash);
    tab = TABS.find((one) => one.name === given?.tab) ?? balls;
    if (given && given.text !== null) {
      const command = given.command ?? commandOf(given.text);
      if (tab === json) states.set("json", { command, text: given.text });
      else states.set(tab.name, { ...tab.start, ...tab.read(JSON.parse(given.text)) });
      say("");
      select(tab);
      ask({ text: given.text, command: tab === json ? command : "resolve" });
      return;
    }
    say("");
  } catch (error) {
    states.set(tab.name, { ...tab.start });
    say(`The address holds no problem of this page (${error.message}): these are the start values.`);
  }
  select(tab);
  ask();
};

(async () => {
  try {
    engine = await Engine.start($("#module").textContent.trim());
  } catch (error) {
    fault(error);
    return;
  }
  addEventListener("hashchange", restore);
  restore();
})();
