// The tabs: what each asks, how its controls stand in a problem, and how a problem is read back.
const isNumber = (x) => typeof x === "number" && Number.isFinite(x);
const isVector = (x, n) => Array.isArray(x) && x.length === n && x.every(isNumber);
const need = (holds, fault) => {
  if (!holds) throw new Error(fault);
};
const diagonal = (entries) => entries.map((x, i) => entries.map((_, j) => (i === j ? x : 0)));
const diagonalOf = (matrix, n) => {
  need(Array.isArray(matrix) && matrix.length === n && matrix.every((row) => isVector(row, n)), `mass_matrix is not ${n} by ${n}`);
  need(matrix.every((row, i) => row.every((x, j) => (i === j ? x > 0 : x === 0))), "mass_matrix is not diagonal and positive");
  return matrix.map((row, i) => row[i]);
};
const rounded = (x) => Math.round(x * 1e6) / 1e6;
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const sameVector = (a, b) => a.every((x, i) => Math.abs(x - b[i]) <= 1e-9);

const range = (key, label, min, max, step) => ({ key, label, min, max, step });

const balls = {
  name: "balls",
  title: "Three balls",
  slow: false,
  start: { m0: 1, m1: 3, m2: 1, v0: 1, v1: 0, v2: -1, left: true, right: true, e: 1 },
  controls: () => [
    range("m0", "Mass of the first ball (kg)", 0.1, 5, 0.1),
    range("m1", "Mass of the second (kg)", 0.1, 5, 0.1),
    range("m2", "Mass of the third (kg)", 0.1, 5, 0.1),
    range("e", "Restitution of the event", 0, 1, 0.05),
    { key: "left", label: "The first two touch", check: true },
    { key: "right", label: "The last two touch", check: true },
  ],
  problem: (s) => ({
    law: "propagative",
    mass_matrix: diagonal([s.m0, s.m1, s.m2]),
    velocity: [s.v0, s.v1, s.v2],
    contacts: [...(s.left ? [{ normal: [-1, 1, 0] }] : []), ...(s.right ? [{ normal: [0, -1, 1] }] : [])],
    options: { outcomes: "all", restitution: s.e },
  }),
  read: (p) => {
    need(p.law === "propagative", "law is not propagative");
    const [m0, m1, m2] = diagonalOf(p.mass_matrix, 3);
    need(isVector(p.velocity, 3), "velocity is not three numbers");
    need(Array.isArray(p.contacts) && p.contacts.length <= 2, "contacts are not at most two");
    const has = (normal) => p.contacts.some((c) => isVector(c?.normal, 3) && sameVector(c.normal, normal));
    const [left, right] = [has([-1, 1, 0]), has([0, -1, 1])];
    need(left + right === p.contacts.length, "contacts are not those of three balls in a row");
    const e = p.options?.restitution ?? 1;
    need(isNumber(e), "options.restitution is not a number");
    const [v0, v1, v2] = p.velocity;
    return { m0, m1, m2, v0, v1, v2, left, right, e };
  },
};

const LAWS_OF_BOX = ["propagative", "moreau-newton", "anitescu-potra", "sequential", "set-valued"];
const HEIGHT = 0.5;
const box = {
  name: "box",
  title: "Box on legs",
  slow: true,
  start: { law: "set-valued", m: 1, i: 0.4, w: 0.8, vx: 1.5, vy: -1, spin: 0, mu: 1, e: 0.3 },
  controls: (s) => [
    { key: "law", label: "Law", choices: LAWS_OF_BOX },
    range("m", "Mass (kg)", 0.1, 5, 0.1),
    range("i", "Moment of inertia (kg m²)", 0.05, 3, 0.05),
    range("w", "Half of the distance of the feet (m)", 0.2, 1.2, 0.05),
    range("spin", "Angular velocity before (rad/s)", -3, 3, 0.05),
    ...(s.law === "propagative" ? [] : [range("mu", "Friction", 0, 1.5, 0.05)]),
    ...(["propagative", "moreau-newton"].includes(s.law) ? [range("e", "Restitution", 0, 1, 0.05)] : []),
  ],
  problem: (s) => {
    const foot = (x) => ({
      normal: [0, 1, x],
      ...(s.law === "propagative" ? {} : { tangents: [[1, 0, HEIGHT]], friction: s.mu }),
      ...(s.law === "moreau-newton" ? { restitution: s.e } : {}),
    });
    const options = {
      propagative: { outcomes: "all", restitution: s.e },
      "set-valued": { outcomes: "all", samples: 200, seed: 1 },
    }[s.law];
    return {
      law: s.law,
      mass_matrix: diagonal([s.m, s.m, s.i]),
      velocity: [s.vx, s.vy, s.spin],
      contacts: [foot(-s.w), foot(s.w)],
      ...(options ? { options } : {}),
    };
  },
  read: (p) => {
    need(LAWS_OF_BOX.includes(p.law), "law is none of this tab");
    const [m, same, i] = diagonalOf(p.mass_matrix, 3);
    need(m === same, "the masses along x and y differ");
    need(isVector(p.velocity, 3), "velocity is not three numbers");
    need(Array.isArray(p.contacts) && p.contacts.length === 2, "contacts are not two");
    const [a, b] = p.contacts.map((c) => c?.normal);
    need(isVector(a, 3) && isVector(b, 3) && sameVector([a[0], a[1], b[0], b[1]], [0, 1, 0, 1]), "a foot does not stand on the floor");
    need(b[2] > 0 && sameVector([a[2]], [-b[2]]), "the feet are not one on each side");
    const [{ friction: mu = 0, restitution: given = 0 }, [vx, vy, spin]] = [p.contacts[0], p.velocity];
    const e = p.law === "propagative" ? (p.options?.restitution ?? 1) : given;
    need(isNumber(mu) && isNumber(e), "friction or restitution is not a number");
    return { law: p.law, m, i, w: b[2], vx, vy, spin, mu, e };
  },
};

const LAWS_OF_PENNY = ["nonholonomic-elastic", "nonholonomic-newton", "nonholonomic-projected", "nonholonomic-projected-newton"];
const hasRestitution = (law) => law.endsWith("newton");
const penny = {
  name: "penny",
  title: "Penny",
  slow: false,
  start: { law: "nonholonomic-elastic", heading: 0.6, roll: 1, turn: 0.3, e: 0.5 },
  controls: (s) => [
    { key: "law", label: "Law", choices: LAWS_OF_PENNY },
    range("heading", "Heading (rad; 0: along the wall)", 0.05, 1.55, 0.05),
    range("roll", "Rolling (rad/s)", -2, 2, 0.05),
    range("turn", "Turning (rad/s)", -3, 3, 0.05),
    ...(hasRestitution(s.law) ? [range("e", "Restitution", 0, 1, 0.05)] : []),
  ],
  // Radius 1 m, mass 1 kg; the wall is above, and the front of the rim touches it.
  problem: (s) => {
    const [c, d] = [rounded(Math.cos(s.heading)), rounded(Math.sin(s.heading))];
    return {
      law: s.law,
      mass_matrix: diagonal([1, 1, 0.5, 0.25]),
      velocity: [c * s.roll, d * s.roll, s.roll, s.turn],
      contacts: [{ normal: [0, -1, 0, -c] }],
      constraints: [[1, 0, -c, 0], [0, 1, -d, 0]],
      ...(hasRestitution(s.law) ? { options: { restitution: s.e } } : {}),
    };
  },
  read: (p) => {
    need(LAWS_OF_PENNY.includes(p.law), "law is none of this tab");
    need(sameVector(diagonalOf(p.mass_matrix, 4), [1, 1, 0.5, 0.25]), "mass_matrix is not the penny's");
    need(isVector(p.velocity, 4), "velocity is not four numbers");
    need(Array.isArray(p.constraints) && p.constraints.length === 2 && p.constraints.every((row) => isVector(row, 4)), "constraints are not two forms");
    const [c, d] = p.constraints.map((row) => -row[2]);
    need(Math.abs(c * c + d * d - 1) <= 1e-5, "constraints are not those of rolling");
    const e = p.options?.restitution ?? 0.5;
    need(isNumber(e), "options.restitution is not a number");
    return { law: p.law, heading: rounded(Math.atan2(d, c)), roll: p.velocity[2], turn: p.velocity[3], e };
  },
};

const json = {
  name: "json",
  title: "JSON",
  slow: true,
  start: {
    command: "resolve",
    text: '{"law":"propagative","mass_matrix":[[1,0,0],[0,1,0],[0,0,1]],"velocity":[1,0,0],"contacts":[{"normal":[-1,1,0]},{"normal":[0,-1,1]}]}',
  },
};

const TABS = [balls, box, penny, json];
