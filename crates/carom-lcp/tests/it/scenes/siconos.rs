//! Friction-contact problems in the text format of Siconos: local ones, by the matrix W of
//! `r = impulses`, `u = W r + q`, and global ones, by M and H.

use carom_lcp::contact_problem::{Block, Kind};
use nalgebra::DMatrix;

/// Coordinates of a global problem whose matrix is inverted as a dense one.
const MAX_DENSE: usize = 1000;

/// Friction-contact problem read from a Siconos file, with three rows per contact.
pub struct FrictionContact {
    /// Nonzero 3 × 3 blocks on and above the diagonal, of the symmetric part.
    pub blocks: Vec<(usize, usize, [[f64; 3]; 3])>,
    /// Velocities before (3m).
    pub velocity: Vec<f64>,
    /// Friction coefficients (m).
    pub friction: Vec<f64>,
}

impl FrictionContact {
    /// Returns the dense Delassus matrix, the laws of the contacts, and the velocities of their rows.
    pub fn dense(&self) -> (Vec<f64>, Vec<Block>, Vec<f64>) {
        let is_planar = self.blocks.iter().all(|(_, _, g)| g[2] == [0.0; 3]);
        let kind = if is_planar { Kind::Planar } else { Kind::Round };
        let width = kind.width();
        let n = width * self.friction.len();
        let mut matrix = vec![0.0; n * n];
        for (i, j, block) in &self.blocks {
            for (r, row) in block.iter().take(width).enumerate() {
                for (c, x) in row.iter().take(width).enumerate() {
                    matrix[(width * j + c) * n + width * i + r] = *x;
                    matrix[(width * i + r) * n + width * j + c] = *x;
                }
            }
        }
        let blocks = self.friction.iter().map(|f| Block::new(kind, *f)).collect();
        let velocity = self
            .velocity
            .chunks_exact(3)
            .flat_map(|b| b[..width].to_vec());
        (matrix, blocks, velocity.collect())
    }
}

/// Reads a friction-contact problem from the text of a Siconos file. The error describes the fault of the text.
pub fn read(text: &str) -> Result<FrictionContact, String> {
    let mut words = Words(text.split_whitespace());
    let dimension = words.index("dimension")?;
    let n_contacts = words.index("number of contacts")?;
    if !(dimension == 2 || dimension == 3) {
        return Err(format!("dimension {dimension}"));
    }
    let n = dimension * n_contacts;
    let first = words.matrix()?;
    if n > 0 && (first.rows, first.columns) == (n, n) && !words.has_matrix() {
        let velocity = words.numbers(n, "velocity")?;
        let friction = words.numbers(n_contacts, "friction")?;
        return Ok(local(dimension, &first, &velocity, friction));
    }
    let second = words.matrix()?;
    let force = words.numbers(first.rows, "force")?;
    let velocity = words.numbers(second.columns, "velocity")?;
    let friction = words.numbers(n_contacts, "friction")?;
    global(dimension, &first, &second, &force, velocity, friction)
}

/// A matrix by its nonzero entries.
struct Entries {
    rows: usize,
    columns: usize,
    entries: Vec<(usize, usize, f64)>,
}

struct Words<'a>(std::str::SplitWhitespace<'a>);

impl Words<'_> {
    fn word(&mut self, what: &str) -> Result<&str, String> {
        self.0.next().ok_or_else(|| format!("{what} is missing"))
    }

    fn index(&mut self, what: &str) -> Result<usize, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| format!("{what} is {word:?}"))
    }

    fn number(&mut self, what: &str) -> Result<f64, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| format!("{what} is {word:?}"))
    }

    fn numbers(&mut self, n: usize, what: &str) -> Result<Vec<f64>, String> {
        (0..n).map(|_| self.number(what)).collect()
    }

    fn indices(&mut self, n: usize, what: &str) -> Result<Vec<usize>, String> {
        (0..n).map(|_| self.index(what)).collect()
    }

    /// True if the next words are the head of a matrix: its storage and its size.
    fn has_matrix(&self) -> bool {
        let mut ahead = self.0.clone();
        let head: Vec<_> = ahead.by_ref().take(3).collect();
        head.len() == 3 && head.iter().all(|word| word.parse::<usize>().is_ok())
    }

    fn matrix(&mut self) -> Result<Entries, String> {
        let storage = self.index("storage")?;
        let rows = self.index("rows")?;
        let columns = self.index("columns")?;
        let entries = match storage {
            0 => self.dense(rows, columns)?,
            1 => self.blocks()?,
            2 => self.sparse()?,
            other => return Err(format!("storage {other}")),
        };
        Ok(Entries {
            rows,
            columns,
            entries,
        })
    }

    /// Column after column, after the size again.
    fn dense(&mut self, rows: usize, columns: usize) -> Result<Vec<(usize, usize, f64)>, String> {
        self.indices(2, "size")?;
        let values = self.numbers(rows * columns, "matrix")?;
        let entries = values.into_iter().enumerate();
        Ok(entries.map(|(at, x)| (at % rows, at / rows, x)).collect())
    }

    /// Blocks, each column after column; rows of blocks end where the next row begins.
    fn blocks(&mut self) -> Result<Vec<(usize, usize, f64)>, String> {
        let n_blocks = self.index("number of blocks")?;
        let rows = self.index("rows of blocks")?;
        let columns = self.index("columns of blocks")?;
        let row_ends = self.indices(rows, "ends of rows")?;
        let column_ends = self.indices(columns, "ends of columns")?;
        let n_starts = self.index("number of starts")?;
        let n_places = self.index("number of places")?;
        let starts = self.indices(n_starts, "starts")?;
        let places = self.indices(n_places, "places")?;
        let begin = |ends: &[usize], at: usize| if at == 0 { 0 } else { ends[at - 1] };
        let mut entries = Vec::new();
        for at in 0..n_blocks {
            self.index("number of the block")?;
            let row = starts
                .partition_point(|start| *start <= at)
                .saturating_sub(1);
            let column = places.get(at).copied().unwrap_or(0);
            if row >= rows || column >= columns {
                return Err(format!("block {at} is outside of the matrix"));
            }
            let (top, left) = (begin(&row_ends, row), begin(&column_ends, column));
            let (height, width) = (row_ends[row] - top, column_ends[column] - left);
            for c in 0..width {
                for r in 0..height {
                    entries.push((top + r, left + c, self.number("block")?));
                }
            }
        }
        Ok(entries)
    }

    /// The print of CSparse, by columns or as triplets.
    fn sparse(&mut self) -> Result<Vec<(usize, usize, f64)>, String> {
        let is_triplets = self.index("kind")? == 1;
        while self.word("head of the matrix")? != "nnz:" {}
        let word = self.word("number of entries")?;
        let n_entries: usize = word
            .trim_end_matches(',')
            .parse()
            .map_err(|_| format!("number of entries is {word:?}"))?;
        if !is_triplets {
            self.word("norm")?;
            self.word("norm")?;
        }
        let mut entries = Vec::with_capacity(n_entries);
        let mut column = 0;
        while entries.len() < n_entries {
            let word = self.word("entry")?;
            if word == "col" {
                column = self.index("column")?;
                // : locations A to B
                for _ in 0..5 {
                    self.word("locations")?;
                }
                continue;
            }
            let row = word.parse().map_err(|_| format!("row is {word:?}"))?;
            if is_triplets {
                column = self.index("column")?;
            }
            self.word("colon")?;
            entries.push((row, column, self.number("entry")?));
        }
        Ok(entries)
    }
}

/// Three rows a contact, and the symmetric part of the matrix.
fn local(
    dimension: usize,
    matrix: &Entries,
    velocity: &[f64],
    friction: Vec<f64>,
) -> FrictionContact {
    let mut blocks = std::collections::BTreeMap::new();
    for i in 0..friction.len() {
        blocks.insert((i, i), [[0.0; 3]; 3]);
    }
    for (row, column, x) in &matrix.entries {
        for (r, c) in [(*row, *column), (*column, *row)] {
            let (i, j) = (r / dimension, c / dimension);
            if i <= j {
                let block = blocks.entry((i, j)).or_insert([[0.0; 3]; 3]);
                block[r % dimension][c % dimension] += 0.5 * x;
            }
        }
    }
    let mut spatial = Vec::new();
    for b in velocity.chunks_exact(dimension) {
        spatial.extend_from_slice(b);
        spatial.resize(spatial.len() + 3 - dimension, 0.0);
    }
    FrictionContact {
        blocks: blocks
            .into_iter()
            .map(|((i, j), block)| (i, j, block))
            .collect(),
        velocity: spatial,
        friction,
    }
}

/// $M v = H r + f$, $u = H^T v + b$: the local problem, in dense arithmetic.
fn global(
    dimension: usize,
    mass: &Entries,
    rows: &Entries,
    force: &[f64],
    mut velocity: Vec<f64>,
    friction: Vec<f64>,
) -> Result<FrictionContact, String> {
    let dense = |matrix: &Entries| {
        let mut out = DMatrix::zeros(matrix.rows, matrix.columns);
        for (r, c, x) in &matrix.entries {
            out[(*r, *c)] += x;
        }
        out
    };
    if mass.rows > MAX_DENSE {
        return Err(format!(
            "{} coordinates are too many for a dense matrix",
            mass.rows
        ));
    }
    let (m, h) = (dense(mass), dense(rows));
    let lu = m.lu();
    let free = lu
        .solve(&DMatrix::from_column_slice(force.len(), 1, force))
        .ok_or("singular mass matrix")?;
    let moved = lu.solve(&h).ok_or("singular mass matrix")?;
    for (u, x) in velocity.iter_mut().zip((h.transpose() * free).iter()) {
        *u += x;
    }
    let delassus = h.transpose() * moved;
    let n = velocity.len();
    let entries = (0..n * n).map(|at| (at % n, at / n, delassus[(at % n, at / n)]));
    let matrix = Entries {
        rows: n,
        columns: n,
        entries: entries.filter(|(_, _, x)| *x != 0.0).collect(),
    };
    Ok(local(dimension, &matrix, &velocity, friction))
}
