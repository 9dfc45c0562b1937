//! The common part of two ellipsoids.

use crate::{Ellipsoid, GeometryError, Support, SupportMap};
use nalgebra::Vector3;

/// Halvings of the weight: more change nothing in double precision.
const MAX_ITERATIONS: usize = 200;

/// The common part of two ellipsoids whose interiors meet.
///
/// Its lowest point is a lowest point of one ellipsoid if that lies in the other. If not, it lies on
/// both surfaces, and for a weight $w$ it is also the lowest point of
/// $\lbrace wf_1 + (1-w)f_2 \le 1\rbrace$, $f_i$ the [level](Ellipsoid::level) functions. That
/// ellipsoid holds the intersection for every $w$, so its support is a lower bound, concave in
/// $w$; the best weight is where $f_1 = f_2$ at the minimizer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipsoidIntersection {
    parts: [Ellipsoid; 2],
}

impl EllipsoidIntersection {
    /// The common part of two ellipsoids.
    ///
    /// # Errors
    ///
    /// [`GeometryError::EmptyIntersection`] unless their interiors meet.
    pub fn new(first: Ellipsoid, second: Ellipsoid) -> Result<Self, GeometryError> {
        let both = Self {
            parts: [first, second],
        };
        // The pencil's ellipsoids are nonempty for every weight exactly if the interiors meet; the
        // one whose center lies on both levels alike is the smallest.
        let level_difference = |w: f64| {
            let center = both.pencil(w).center;
            first.level(&center) - second.level(&center)
        };
        let w = bisect(level_difference);
        if both.pencil(w).room > 0.0 {
            Ok(both)
        } else {
            Err(GeometryError::EmptyIntersection)
        }
    }

    /// The two ellipsoids.
    pub fn parts(&self) -> &[Ellipsoid; 2] {
        &self.parts
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        Self {
            parts: self.parts.map(|part| part.translated(by)),
        }
    }

    /// The ellipsoid $\lbrace wf_1 + (1-w)f_2 \le 1\rbrace$.
    fn pencil(&self, w: f64) -> Pencil {
        let [a, b] = &self.parts;
        let weigh = |e: &Ellipsoid, w: f64| e.semi_axes().map(|s| w / (s * s));
        let (pa, pb) = (weigh(a, w), weigh(b, 1.0 - w));
        let form = pa + pb;
        let center =
            (pa.component_mul(a.center()) + pb.component_mul(b.center())).component_div(&form);
        let room = 1.0 - (w * a.level(&center) + (1.0 - w) * b.level(&center));
        Pencil { form, center, room }
    }
}

/// $\lbrace (\rho - c)^TP(\rho - c) \le k\rbrace$ with diagonal $P$.
struct Pencil {
    form: Vector3<f64>,
    center: Vector3<f64>,
    room: f64,
}

impl Pencil {
    fn lowest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let step = direction.component_div(&self.form);
        let scale = (self.room.max(0.0) / step.dot(direction)).sqrt();
        self.center - step * scale
    }
}

/// The weight in \[0, 1\] where a decreasing function changes its sign, or an end if it does not.
fn bisect(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..MAX_ITERATIONS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if f(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

impl SupportMap for EllipsoidIntersection {
    fn support(&self, direction: &Vector3<f64>) -> Support {
        let [a, b] = &self.parts;
        let at = |point: Vector3<f64>| Support {
            point,
            value: point.dot(direction),
        };
        if direction.amax() == 0.0 {
            let w = bisect(|w| {
                let center = self.pencil(w).center;
                a.level(&center) - b.level(&center)
            });
            return at(self.pencil(w).center);
        }
        for (part, other) in [(a, b), (b, a)] {
            let support = part.support(direction);
            if other.level(&support.point) <= 1.0 {
                return support;
            }
        }
        let w = bisect(|w| {
            let point = self.pencil(w).lowest(direction);
            a.level(&point) - b.level(&point)
        });
        at(self.pencil(w).lowest(direction))
    }

    fn bounding_radius(&self) -> f64 {
        let [a, b] = &self.parts;
        a.bounding_radius().min(b.bounding_radius())
    }
}
