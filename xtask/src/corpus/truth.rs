//! Answers of frictionless laws in rational arithmetic.

use super::scene::Scene;
use crate::fuzz::Dyadic;
use nalgebra::DVector;
use num_bigint::{BigInt, Sign};
use std::iter::zip;

/// Largest number of contacts: all sets of contacts that push are tried.
pub(crate) const MAX_CONTACTS: usize = 4;

/// Answer of a frictionless law to exactly the numbers of a problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Truth {
    /// Velocity after the impact, rounded once.
    Velocity(DVector<f64>),
    /// No velocity satisfies the law.
    NoAnswer,
}

/// Answer of a law with the exact rank of the rows of the problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exact {
    pub(crate) truth: Truth,
    /// Number of rows that do not depend on others.
    pub(crate) rank: usize,
}

/// Numbers as integers times one power of two.
struct Integers {
    digits: Vec<BigInt>,
    exponent: i64,
}

impl Integers {
    fn new<'a>(numbers: impl Iterator<Item = &'a f64>) -> Self {
        let numbers: Vec<Dyadic> = numbers.map(|x| Dyadic::new(*x)).collect();
        let of_others = numbers
            .iter()
            .filter(|x| x.is_negative() || x.is_positive());
        let exponent = of_others.map(Dyadic::exponent).min().unwrap_or(0);
        let digits: Vec<BigInt> = numbers.iter().map(|x| x.at(exponent)).collect();
        // Short integers are quick.
        let zeros = digits.iter().filter_map(BigInt::trailing_zeros).min();
        let zeros = zeros.unwrap_or(0);
        Self {
            digits: digits.iter().map(|x| x >> zeros).collect(),
            exponent: exponent + i64::try_from(zeros).unwrap_or(0),
        }
    }
}

/// Computes the velocity after the impact of a problem without friction: contacts push as little as is needed for
/// $0 \le b_i^+ - r_i \perp \lambda_i \ge 0$ with the normal velocities $b^\pm$ and the rebounds $r_i = e_i\max(-b_i^-, 0)$, and
/// constraints hold. Without `rebounds` all $r_i$ are 0. The velocity is unique; constraints and contacts that depend on others
/// are left out exactly.
pub(crate) fn frictionless(scene: &Scene, rebounds: bool) -> Option<Exact> {
    let (n, m) = (scene.dim(), scene.contacts.len());
    if m > MAX_CONTACTS {
        return None;
    }
    let rows: Vec<&DVector<f64>> = scene
        .contacts
        .iter()
        .map(|contact| contact.normal())
        .chain(&scene.constraints)
        .collect();
    let mass = Integers::new(scene.mass.iter());
    let of_rows = Integers::new(rows.iter().flat_map(|row| row.iter()));
    let velocity = Integers::new(scene.velocity.iter());
    let restitution: Vec<f64> = scene
        .contacts
        .iter()
        .map(|contact| if rebounds { contact.restitution } else { 0.0 })
        .collect();
    // 1, so that the exponent is never positive.
    let restitution = Integers::new(restitution.iter().chain(&[1.0]));
    let row = |i: usize| &of_rows.digits[i * n..(i + 1) * n];
    let dot = |a: &[BigInt], b: &[BigInt]| zip(a, b).map(|(x, y)| x * y).sum::<BigInt>();

    // Responses: the mass matrix times X is the transposed rows times a determinant.
    let system: Vec<Vec<BigInt>> = (0..n)
        .map(|i| {
            let mass = (0..n).map(|j| mass.digits[j * n + i].clone());
            mass.chain((0..rows.len()).map(|r| row(r)[i].clone()))
                .collect()
        })
        .collect();
    let (responses, determinant) = solved(system, n)?;
    if determinant.sign() != Sign::Plus {
        return None;
    }
    let response = |r: usize| -> Vec<BigInt> { (0..n).map(|i| responses[i][r].clone()).collect() };
    let responses: Vec<Vec<BigInt>> = (0..rows.len()).map(response).collect();
    let delassus: Vec<Vec<BigInt>> = (0..rows.len())
        .map(|i| responses.iter().map(|x| dot(row(i), x)).collect())
        .collect();

    // Velocities of rows before, and those asked for, in the unit of row times velocity times restitution.
    let shift = usize::try_from(-restitution.exponent).ok()?;
    let before: Vec<BigInt> = (0..rows.len())
        .map(|i| dot(row(i), &velocity.digits))
        .collect();
    let asked: Vec<BigInt> = (0..rows.len())
        .map(|i| match before[i].sign() {
            Sign::Minus if i < m => -&before[i] * &restitution.digits[i],
            _ => BigInt::ZERO,
        })
        .collect();
    let before: Vec<BigInt> = before.iter().map(|b| b << shift).collect();
    let rank = independent(&delassus, 0..rows.len()).len();
    for pushing in 0..1usize << m {
        let closed = (0..m).filter(|i| pushing >> i & 1 == 1);
        let Some((impulses, scale)) = impulses(&delassus, &before, &asked, m, closed.collect())
        else {
            continue;
        };
        let is_answer = (0..m).all(|i| {
            let after = &before[i] * &scale + dot(&delassus[i], &impulses);
            impulses[i].sign() != Sign::Minus && after >= &asked[i] * &scale
        });
        if is_answer {
            let exponent = velocity.exponent + restitution.exponent;
            let after = |k: usize| {
                let change: BigInt = zip(&responses, &impulses).map(|(x, l)| &x[k] * l).sum();
                quotient(
                    &(((&velocity.digits[k] << shift) * &scale) + change),
                    &scale,
                    exponent,
                )
            };
            let truth = Truth::Velocity(DVector::from_fn(n, |k, _| after(k)));
            return Some(Exact { truth, rank });
        }
    }
    let truth = Truth::NoAnswer;
    Some(Exact { truth, rank })
}

/// Computes the impulses with which the contacts `closed` have the velocities asked for, and all constraints hold. Contacts that
/// depend on each other have other impulses elsewhere: then `None` is returned. The impulses are multiplied by the second result,
/// which is positive.
fn impulses(
    delassus: &[Vec<BigInt>],
    before: &[BigInt],
    asked: &[BigInt],
    m: usize,
    closed: Vec<usize>,
) -> Option<(Vec<BigInt>, BigInt)> {
    let system = |active: &[usize]| -> Vec<Vec<BigInt>> {
        active
            .iter()
            .map(|&i| {
                let row = active.iter().map(|&j| delassus[i][j].clone());
                row.chain([&asked[i] - &before[i]]).collect()
            })
            .collect()
    };
    // Constraints first: those that depend on others say nothing new.
    let mut active = independent(delassus, m..delassus.len());
    active.extend(closed);
    let (solution, scale) = solved(system(&active), active.len())?;
    let mut impulses = vec![BigInt::ZERO; delassus.len()];
    for (&i, value) in zip(&active, solution) {
        impulses[i].clone_from(&value[0]);
    }
    if scale.sign() == Sign::Minus {
        return Some((impulses.iter().map(|x| -x).collect(), -scale));
    }
    Some((impulses, scale))
}

/// Returns those of the rows `among` that do not depend on rows before them.
fn independent(delassus: &[Vec<BigInt>], among: std::ops::Range<usize>) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::new();
    for row in among {
        rows.push(row);
        let entry = |&i: &usize| rows.iter().map(|&j| delassus[i][j].clone()).collect();
        if solved(rows.iter().map(entry).collect(), rows.len()).is_none() {
            rows.pop();
        }
    }
    rows
}

/// Solves linear equations in integers by elimination without fractions (Bareiss). `system` holds the square matrix of `n` rows
/// and, right of it, the right-hand sides. Returns solutions times a determinant, and that determinant; `None` if it is 0.
fn solved(mut system: Vec<Vec<BigInt>>, n: usize) -> Option<(Vec<Vec<BigInt>>, BigInt)> {
    let mut last = BigInt::from(1);
    for k in 0..n {
        let pivot = (k..n).find(|&i| system[i][k].sign() != Sign::NoSign)?;
        if pivot != k {
            system.swap(k, pivot);
            // The sign of the determinant stays.
            system[k].iter_mut().for_each(|x| *x = -std::mem::take(x));
        }
        let chosen = system[k].clone();
        for (i, row) in system.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k].clone();
            for (j, x) in row.iter_mut().enumerate() {
                // Columns of pivots before stay diagonal.
                let is_done = j < k && j != i;
                if !is_done {
                    *x = (&*x * &chosen[k] - &factor * &chosen[j]) / &last;
                }
            }
        }
        last.clone_from(&chosen[k]);
    }
    let right = |row: Vec<BigInt>| row.into_iter().skip(n).collect();
    Some((system.into_iter().map(right).collect(), last))
}

/// Divides integers, and multiplies by a power of two: the result is rounded to a double, with an error of at most one unit in the
/// last place.
fn quotient(numerator: &BigInt, denominator: &BigInt, exponent: i64) -> f64 {
    let bits = |x: &BigInt| i64::try_from(x.bits()).unwrap_or(i64::MAX);
    let shift = 66 + bits(denominator) - bits(numerator);
    let whole = match usize::try_from(shift) {
        Ok(shift) => (numerator.magnitude() << shift) / denominator.magnitude(),
        Err(_) => {
            let shift = usize::try_from(-shift).unwrap_or(0);
            numerator.magnitude() / (denominator.magnitude() << shift)
        }
    };
    let digits = whole.iter_u64_digits().rev();
    let value = digits.fold(0.0, |sum, digit| sum * 2f64.powi(64) + digit as f64);
    let mut value = if numerator.sign() == denominator.sign() {
        value
    } else {
        -value
    };
    let mut left = exponent - shift;
    while left != 0 {
        let step = left.clamp(-900, 900);
        value *= 2f64.powi(step as i32);
        left -= step;
        if value == 0.0 || value.is_infinite() {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::super::scene::Touch;
    use super::*;
    use nalgebra::{DMatrix, dvector};

    fn scene(mass: DMatrix<f64>, velocity: DVector<f64>, normals: &[DVector<f64>]) -> Scene {
        let contact = |normal: &DVector<f64>| Touch {
            rows: vec![normal.clone()],
            friction: 0.0,
            restitution: 0.5,
        };
        Scene {
            mass,
            velocity,
            contacts: normals.iter().map(contact).collect(),
            constraints: Vec::new(),
        }
    }

    fn truth(scene: &Scene, rebounds: bool) -> Option<Truth> {
        frictionless(scene, rebounds).map(|exact| exact.truth)
    }

    /// Four contacts that leave no way out, beside a mass matrix of condition 1e9: nothing moves afterwards.
    #[test]
    fn four_contacts_around_a_nearly_singular_mass_stop_it() {
        let mass = DMatrix::from_row_slice(2, 2, &[4.0, -49152.0, -49152.0, 603_979_776.25]);
        let normals = [
            dvector![-3.0, 0.0],
            dvector![1.0, -2.0],
            dvector![-2.0, 3.0],
            dvector![1.0, -1.0],
        ];
        let found = truth(&scene(mass, dvector![3.0, -2.0], &normals), false);
        assert_eq!(found, Some(Truth::Velocity(dvector![0.0, 0.0])));
    }

    /// An answer of rational numbers that another program computed.
    #[test]
    fn nearly_equal_rows_have_the_answer_of_rational_arithmetic() {
        let mass = DMatrix::from_diagonal(&dvector![32768.0, 0.001_953_125]);
        let normals = [
            dvector![-1.0, 2.0],
            dvector![-0.999_999_970_197_677_6, 2.0],
            dvector![-1.0, -2.0],
        ];
        let found = truth(&scene(mass, dvector![-4.0, -2.0], &normals), false);
        let expected = dvector![
            -302231459407256786829312.0 / 75557864851814163152897.0,
            -151115725200028698935298.0 / 75557864851814163152897.0
        ];
        let Some(Truth::Velocity(found)) = found else {
            panic!("{found:?}");
        };
        assert!((found - expected).amax() < 1e-15);
    }

    #[test]
    fn a_ball_rebounds_with_half_its_speed_and_not_against_two_walls() {
        let one = DMatrix::identity(1, 1);
        let floor = scene(one.clone(), dvector![-3.0], &[dvector![2.0]]);
        assert_eq!(truth(&floor, true), Some(Truth::Velocity(dvector![1.5])));
        let between = scene(one, dvector![-3.0], &[dvector![1.0], dvector![-1.0]]);
        assert_eq!(truth(&between, true), Some(Truth::NoAnswer));
        assert_eq!(truth(&between, false), Some(Truth::Velocity(dvector![0.0])));
    }

    #[test]
    fn a_constraint_told_twice_counts_once() {
        let mut wedge = scene(
            DMatrix::from_diagonal(&dvector![1.0, 2.0, 3.0]),
            dvector![1.0, -1.0, 1.0],
            &[dvector![0.0, 1.0, 0.5]],
        );
        wedge.constraints = vec![dvector![1.0, 0.0, -1.0], dvector![-2.0, 0.0, 2.0]];
        // One mass of 4 along (1, 0, 1): the normal is (0.5, 1) on it and the mass of 2.
        let impulse = 0.5 / (0.25 / 4.0 + 0.5);
        let expected = dvector![
            1.0 + impulse / 8.0,
            -1.0 + impulse / 2.0,
            1.0 + impulse / 8.0
        ];
        let Some(Truth::Velocity(found)) = truth(&wedge, false) else {
            panic!("no answer");
        };
        assert!((found - expected).amax() < 1e-15);
    }
}
