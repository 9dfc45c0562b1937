//! Elimination order with little fill: approximate minimum degree.
//!
//! Amestoy, Davis & Duff, *An approximate minimum degree ordering algorithm*, 1996. Supervariables are not
//! used, because the blocks already are the bodies or the contacts.

use std::collections::BinaryHeap;

/// Elimination order with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordering {
    /// For each variable, its neighbors in the matrix itself.
    adjacent: Vec<Vec<u32>>,
    /// For each variable, the eliminated variables (elements) whose fill contains it.
    elements: Vec<Vec<u32>>,
    /// Fill of every eliminated variable: the row pattern of its column in the factors.
    pub(super) fill: Vec<Vec<u32>>,
    is_absorbed: Vec<bool>,
    degree: Vec<u32>,
    is_eliminated: Vec<bool>,
    mark: Vec<u32>,
    outside: Vec<u32>,
    stamp: Vec<u32>,
    /// Degree and index of variables, one in each half of the number: the least number is the next pivot.
    queue: BinaryHeap<std::cmp::Reverse<u64>>,
    /// Variables in elimination order.
    pub(super) order: Vec<u32>,
}

impl Ordering {
    /// Computes an elimination order with little fill for a sparse symmetric matrix with `n` rows.
    /// `neighbors(i, list)` appends the columns with a nonzero entry in row `i` to `list`. The order depends on
    /// this pattern alone.
    pub(super) fn run(&mut self, n: usize, mut neighbors: impl FnMut(usize, &mut Vec<u32>)) {
        self.reset(n);
        for i in 0..n {
            let list = &mut self.adjacent[i];
            neighbors(i, list);
            list.retain(|j| *j as usize != i);
            list.sort_unstable();
            list.dedup();
            self.degree[i] = list.len() as u32;
            self.queue.push(entry(self.degree[i], i as u32));
        }
        while let Some(std::cmp::Reverse(next)) = self.queue.pop() {
            let (degree, p) = ((next >> 32) as u32, next as u32 as usize);
            if self.is_eliminated[p] || self.degree[p] != degree {
                continue;
            }
            self.eliminate(p);
        }
    }

    fn reset(&mut self, n: usize) {
        for lists in [&mut self.adjacent, &mut self.elements, &mut self.fill] {
            lists.iter_mut().for_each(Vec::clear);
            // Lists of a larger matrix before keep their memory.
            lists.resize_with(lists.len().max(n), Vec::new);
        }
        self.is_absorbed.clear();
        self.is_absorbed.resize(n, false);
        self.is_eliminated.clear();
        self.is_eliminated.resize(n, false);
        for numbers in [
            &mut self.degree,
            &mut self.mark,
            &mut self.outside,
            &mut self.stamp,
        ] {
            numbers.clear();
            numbers.resize(n, 0);
        }
        self.queue.clear();
        self.order.clear();
    }

    fn eliminate(&mut self, p: usize) {
        self.order.push(p as u32);
        self.is_eliminated[p] = true;
        // Each elimination has its own mark, the number of variables eliminated so far.
        let mark = self.order.len() as u32;
        self.mark[p] = mark;
        let mut fill = std::mem::take(&mut self.fill[p]);
        let mut take = |list: &[u32], marks: &mut [u32], is_eliminated: &[bool]| {
            for v in list {
                let at = *v as usize;
                if !is_eliminated[at] && marks[at] != mark {
                    marks[at] = mark;
                    fill.push(*v);
                }
            }
        };
        take(&self.adjacent[p], &mut self.mark, &self.is_eliminated);
        for e in &self.elements[p] {
            take(&self.fill[*e as usize], &mut self.mark, &self.is_eliminated);
            self.is_absorbed[*e as usize] = true;
        }
        self.update(p, mark, &fill);
        self.fill[p] = fill;
    }

    /// Updates the degrees of the variables that are adjacent to the variable `p` that was just eliminated. The degree
    /// of a variable is an estimate of the number of its remaining neighbors. `fill` lists the variables to update;
    /// their entries of `self.mark` equal `mark`.
    fn update(&mut self, p: usize, mark: u32, fill: &[u32]) {
        let size = fill.len() as u32;
        for i in fill {
            let i = *i as usize;
            let (marks, gone) = (&self.mark, &self.is_eliminated);
            self.adjacent[i].retain(|j| marks[*j as usize] != mark && !gone[*j as usize]);
            let absorbed = &self.is_absorbed;
            self.elements[i].retain(|e| !absorbed[*e as usize]);
            for e in &self.elements[i] {
                let e = *e as usize;
                if self.stamp[e] != mark {
                    self.stamp[e] = mark;
                    let living = self.fill[e].iter().filter(|v| !gone[**v as usize]);
                    self.outside[e] = living.count() as u32;
                }
                self.outside[e] -= 1;
            }
        }
        for i in fill {
            let place = *i as usize;
            let (outside, absorbed) = (&self.outside, &mut self.is_absorbed);
            // Elements whose remaining variables all lie in the new element add nothing.
            self.elements[place].retain(|e| {
                let is_inside = outside[*e as usize] == 0;
                absorbed[*e as usize] |= is_inside;
                !is_inside
            });
            let beyond = self.elements[place].iter().map(|e| outside[*e as usize]);
            let degree = self.adjacent[place].len() as u32 + (size - 1) + beyond.sum::<u32>();
            self.elements[place].push(p as u32);
            // Without a change the entry of the queue stands.
            if self.degree[place] != degree {
                self.degree[place] = degree;
                self.queue.push(entry(degree, *i));
            }
        }
    }
}

/// Returns the entry of the queue for a variable of a degree.
fn entry(degree: u32, variable: u32) -> std::cmp::Reverse<u64> {
    std::cmp::Reverse(u64::from(degree) << 32 | u64::from(variable))
}
