// The state of the page in the fragment of its address: `#tab=balls&p=<base64url of the problem>`.
const LONGEST = 64 * 1024;

const toBase64 = (text) => {
  let raw = "";
  for (const byte of new TextEncoder().encode(text)) raw += String.fromCharCode(byte);
  return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
};

const fromBase64 = (packed) => {
  if (!/^[A-Za-z0-9_-]*=*$/.test(packed)) throw new Error("it is no base64url");
  const raw = atob(packed.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, ""));
  return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(raw, (c) => c.charCodeAt(0)));
};

// Tab, problem and command of a fragment; null for none. Throws an Error with the fault.
const readFragment = (fragment) => {
  if (fragment.length < 2) return null;
  if (fragment.length > LONGEST) throw new Error(`it is longer than ${LONGEST / 1024} kB`);
  const fields = new URLSearchParams(fragment.slice(1));
  const tab = fields.get("tab");
  if (!TABS.some((one) => one.name === tab)) throw new Error(`there is no tab "${String(tab).slice(0, 40)}"`);
  if (!fields.has("p")) return { tab, text: null, command: null };
  const text = fromBase64(fields.get("p")).replace(/[\r\n]+/g, " ");
  const command = fields.get("c");
  if (command !== null && !Object.hasOwn(COMMANDS, command)) throw new Error(`there is no command "${command.slice(0, 40)}"`);
  return { tab, text, command };
};

const writeFragment = (tab, text, command) => {
  const suffix = command === "resolve" ? "" : `&c=${command}`;
  history.replaceState(null, "", `#tab=${tab}&p=${toBase64(text)}${suffix}`);
};

// The command that a line of JSON is for.
const commandOf = (text) => {
  try {
    const problem = JSON.parse(text);
    if (problem !== null && typeof problem === "object") {
      if ("velocity_plus" in problem) return "judge";
      if ("matrix" in problem) return "lcp";
    }
  } catch {
    // The answer says so.
  }
  return "resolve";
};
