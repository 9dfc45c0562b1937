//! Dense contact problem with circular friction cones, in the caller's units.

use crate::LcpError;
use crate::contact_problem::checks::UNIT;
pub(super) use crate::contact_problem::checks::{WIDTH, check_finite, check_len};
use crate::problem::MAX_DIM;
use carom_numeric::kernel::norm;

/// Largest number of contacts: the polygon problem takes ten rows per contact, or eleven with caps.
const MAX_CONTACTS: usize = MAX_DIM / 12;

/// Impact problem of contacts with circular friction cones, in contact space: a dense Delassus matrix, the
/// contact velocities before the impact, friction and restitution.
///
/// Rows are ordered contact by contact: the normal, then two orthogonal tangents of equal scale. A
/// tangent row may be zero, or parallel to the other.
#[derive(Clone, Copy, Debug)]
pub struct ConeProblem<'a> {
    delassus: &'a [f64],
    velocity: &'a [f64],
    friction: &'a [f64],
    restitution: &'a [f64],
    caps: &'a [f64],
    floors: &'a [f64],
    slips: &'a [Option<[f64; 2]>],
    /// Largest impulse of a solution, as a multiple of the velocities.
    largest: f64,
}

impl<'a> ConeProblem<'a> {
    /// Creates a frictional contact problem from the Delassus matrix $G$, which maps impulses to velocity changes, and
    /// the contact data. For m contacts, `delassus` holds the symmetric matrix $G$ (3m × 3m, 1/kg). `velocity` holds
    /// the contact velocities before the impact (m/s; normal and two tangents per contact). `friction` holds the
    /// friction coefficients $\mu \ge 0$, one per contact. `restitution` holds Newton's coefficients $e \in [0, 1]$,
    /// one per contact; an empty slice means 0.
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`], [`LcpError::TooLarge`], [`LcpError::NonFinite`], [`LcpError::OutOfRange`], and
    /// [`LcpError::NonPositiveDiagonal`] for a normal row whose diagonal entry in `delassus` is not positive.
    ///
    /// # Examples
    ///
    /// A mass point keeps sliding; with a steeper approach it would stop:
    ///
    /// ```
    /// use carom_lcp::cone::{ConeProblem, ConeSelection, ConeWorkspace};
    /// let delassus = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    /// let problem = ConeProblem::new(&delassus, &[-1.0, 0.6, 0.8], &[0.5], &[])?;
    /// let mut workspace = ConeWorkspace::new();
    /// workspace.solve(&problem, ConeSelection::Even)?;
    /// assert!((workspace.impulse()[0] - 1.0).abs() < 1e-15);
    /// assert!((workspace.impulse()[1] + 0.3).abs() < 1e-15);
    /// # Ok::<(), carom_lcp::LcpError>(())
    /// ```
    pub fn new(
        delassus: &'a [f64],
        velocity: &'a [f64],
        friction: &'a [f64],
        restitution: &'a [f64],
    ) -> Result<Self, LcpError> {
        let m = friction.len();
        if m > MAX_CONTACTS {
            let max = MAX_CONTACTS;
            return Err(LcpError::TooLarge { n: m, max });
        }
        let n = WIDTH * m;
        check_len("delassus matrix", n * n, delassus.len())?;
        check_len("velocity", n, velocity.len())?;
        check_finite("delassus matrix", delassus)?;
        check_finite("velocity", velocity)?;
        check_range("friction", friction, f64::MAX, "finite and not negative")?;
        if !restitution.is_empty() {
            check_len("restitution", m, restitution.len())?;
            check_range("restitution", restitution, 1.0, "in [0, 1]")?;
        }
        for i in 0..m {
            let index = i * WIDTH;
            let value = delassus[index * n + index];
            if value <= 0.0 {
                return Err(LcpError::NonPositiveDiagonal { index, value });
            }
        }
        Ok(Self {
            delassus,
            velocity,
            friction,
            restitution,
            caps: &[],
            floors: &[],
            slips: &[],
            largest: f64::INFINITY,
        })
    }

    /// Requires impulses of at most `largest` times the velocities before the impact, each on the scale of its row: larger
    /// ones do not count as a solution. Contacts that press against each other may have no solution; impulses that grow
    /// without end then satisfy the conditions up to rounding. With this bound the starting
    /// points after compliant contacts are left out.
    ///
    /// # Errors
    ///
    /// [`LcpError::OutOfRange`] unless the number is positive.
    pub fn with_largest(self, largest: f64) -> Result<Self, LcpError> {
        if !(largest > 0.0) {
            return Err(LcpError::OutOfRange {
                what: "largest impulse",
                value: largest,
                allowed: "positive",
            });
        }
        Ok(Self { largest, ..self })
    }

    /// Adds an upper bound (cap) to the normal impulse of each contact (N·s, one per contact). A contact whose impulse
    /// is at its cap may still approach after the step. Set-valued impact laws solve such a problem in each of their
    /// sub-steps.
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`], [`LcpError::OutOfRange`].
    pub fn with_caps(self, caps: &'a [f64]) -> Result<Self, LcpError> {
        check_len("caps", self.n_contacts(), caps.len())?;
        check_range("cap", caps, f64::MAX, "finite and not negative")?;
        Ok(Self { caps, ..self })
    }

    /// Adds a lower bound (floor), 0 or more, to the normal impulse of each contact (N·s, one per contact). A contact
    /// whose impulse is at its floor may open. The expansion phase of Poisson's hypothesis is such a problem. The
    /// friction limit is the friction coefficient times the whole normal impulse, including the floor. Use a
    /// [`SparseConeWorkspace`](super::SparseConeWorkspace) to solve a problem with floors.
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`], [`LcpError::OutOfRange`].
    pub fn with_floors(self, floors: &'a [f64]) -> Result<Self, LcpError> {
        check_len("floors", self.n_contacts(), floors.len())?;
        check_range("floor", floors, f64::MAX, "finite and not negative")?;
        Ok(Self { floors, ..self })
    }

    /// Prescribes the slip direction of some contacts (one entry per contact): a unit vector $d$ in the tangent plane.
    /// The friction of such a contact is $\lambda_t = -\mu\lambda_n d$ whatever its tangential velocity becomes, so that
    /// its only unknown is the normal impulse. A contact that already slides in a time step is an example. Contacts
    /// with prescribed directions can jam each other; a problem without a solution is
    /// [`Inaccurate`](crate::LcpStatus::Inaccurate).
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`], [`LcpError::OutOfRange`] for a vector whose length is not one.
    ///
    /// # Examples
    ///
    /// A mass point is slowed along its first tangent, although it has no velocity there:
    ///
    /// ```
    /// use carom_lcp::cone::{ConeProblem, ConeSelection, ConeWorkspace};
    /// let delassus = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    /// let slips = [Some([1.0, 0.0])];
    /// let problem = ConeProblem::new(&delassus, &[-1.0, 0.0, 0.0], &[0.5], &[])?.with_slips(&slips)?;
    /// let mut workspace = ConeWorkspace::new();
    /// workspace.solve(&problem, ConeSelection::Even)?;
    /// assert!((workspace.velocity()[1] + 0.5).abs() < 1e-15);
    /// # Ok::<(), carom_lcp::LcpError>(())
    /// ```
    pub fn with_slips(self, slips: &'a [Option<[f64; 2]>]) -> Result<Self, LcpError> {
        check_len("slips", self.n_contacts(), slips.len())?;
        let length = |slip: &[f64; 2]| norm(slip);
        let is_unit = |length: &f64| (length - 1.0).abs() <= UNIT;
        match slips.iter().flatten().map(length).find(|x| !is_unit(x)) {
            None => Ok(Self { slips, ..self }),
            Some(value) => Err(LcpError::OutOfRange {
                what: "length of a slip direction",
                value,
                allowed: "1",
            }),
        }
    }

    /// Returns the number of contacts of the problem.
    pub fn n_contacts(&self) -> usize {
        self.friction.len()
    }

    /// Returns the number of rows of the problem: three per contact (normal and two tangents).
    pub fn dim(&self) -> usize {
        self.velocity.len()
    }

    /// Returns the contact velocities before the impact (m/s): normal and two tangents per contact.
    pub fn velocity(&self) -> &'a [f64] {
        self.velocity
    }

    /// Returns the friction coefficient of the contact with index `contact`.
    pub fn friction(&self, contact: usize) -> f64 {
        self.friction.get(contact).copied().unwrap_or(0.0)
    }

    /// Returns Newton's coefficient of restitution of the contact with index `contact`.
    pub fn restitution(&self, contact: usize) -> f64 {
        self.restitution.get(contact).copied().unwrap_or(0.0)
    }

    /// Returns the cap, the upper bound on the normal impulse, of the contact with index `contact` (N·s);
    /// infinite if there is no bound.
    pub fn cap(&self, contact: usize) -> f64 {
        self.caps.get(contact).copied().unwrap_or(f64::INFINITY)
    }

    /// Returns the floor, the lower bound on the normal impulse, of the contact with index `contact` (N·s); 0
    /// if there is no bound.
    pub fn floor(&self, contact: usize) -> f64 {
        self.floors.get(contact).copied().unwrap_or(0.0)
    }

    /// Returns the largest impulse of a solution, as a multiple of the velocities before the impact; infinite without a bound.
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    /// Returns the prescribed slip direction (unit vector, components along the two tangents) of the contact with index
    /// `contact`; `None` if Coulomb's law determines it.
    pub fn slip(&self, contact: usize) -> Option<[f64; 2]> {
        self.slips.get(contact).copied().flatten()
    }

    /// True if some contact has a prescribed slip direction.
    pub(super) fn has_slips(&self) -> bool {
        self.slips.iter().any(Option::is_some)
    }

    /// Returns column `j` of the Delassus matrix: the velocity changes of all contact rows caused by a unit impulse
    /// on row `j`.
    pub(super) fn column(&self, j: usize) -> &'a [f64] {
        let n = self.dim();
        &self.delassus[j * n..(j + 1) * n]
    }

    /// Returns the diagonal entries of a contact's 3 × 3 block of the Delassus matrix: normal, first and second
    /// tangent.
    pub(super) fn diagonal(&self, contact: usize) -> [f64; WIDTH] {
        let first = contact * WIDTH;
        std::array::from_fn(|k| self.column(first + k)[first + k])
    }

    /// Computes the velocities after the impulses, $u = b + G\lambda$, where $b$ are the velocities before the impact,
    /// $G$ is the Delassus matrix and $\lambda$ = `impulse`. Also computes the sums of the magnitudes of their terms,
    /// $|b| + |G||\lambda|$, to which rounding errors are relative.
    pub(super) fn velocity_and_terms(
        &self,
        impulse: &[f64],
        after: &mut Vec<f64>,
        terms: &mut Vec<f64>,
    ) {
        after.clear();
        after.extend_from_slice(self.velocity);
        terms.clear();
        terms.extend(self.velocity.iter().map(|b| b.abs()));
        for (j, l) in impulse.iter().enumerate() {
            if *l != 0.0 {
                for ((x, t), g) in after.iter_mut().zip(&mut *terms).zip(self.column(j)) {
                    let product = l * g;
                    *x += product;
                    *t += product.abs();
                }
            }
        }
    }

    /// Computes the velocities after the impulses, $b + G\lambda$. $b$ are the velocities before the impact, $G$ is
    /// the Delassus matrix and $\lambda$ = `impulse`.
    pub(super) fn velocity_after(&self, impulse: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(self.velocity);
        for (j, l) in impulse.iter().enumerate() {
            if *l != 0.0 {
                for (x, g) in out.iter_mut().zip(self.column(j)) {
                    *x += l * g;
                }
            }
        }
    }
}

fn check_range(
    what: &'static str,
    values: &[f64],
    most: f64,
    allowed: &'static str,
) -> Result<(), LcpError> {
    match values.iter().find(|x| !(0.0..=most).contains(*x)) {
        None => Ok(()),
        Some(&value) => Err(LcpError::OutOfRange {
            what,
            value,
            allowed,
        }),
    }
}

/// Returns an error if a contact has a floor (a positive least normal impulse): only the solver for sparse problems
/// supports floors.
pub(super) fn no_floors(problem: &ConeProblem<'_>) -> Result<(), LcpError> {
    match (0..problem.n_contacts()).find(|i| problem.floor(*i) > 0.0) {
        None => Ok(()),
        Some(contact) => Err(LcpError::OutOfRange {
            what: "floor",
            value: problem.floor(contact),
            allowed: "0 here: SparseConeProblem::of_dense takes floors",
        }),
    }
}
