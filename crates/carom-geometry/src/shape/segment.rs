//! Segments: bodies without volume, which become capsules by rounding.

use crate::{GeometryError, PointVisitor, Support, SupportMap};
use nalgebra::{Matrix3, UnitVector3, Vector3};

/// Line segment between two points of a body. A segment that is grown by a ball ([`Rounded`](crate::Rounded)) is a *capsule*: a
/// cylinder with a hemisphere at each end.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "SegmentForm"))]
pub struct Segment {
    #[cfg_attr(feature = "serde", serde(serialize_with = "write_ends"))]
    ends: [Vector3<f64>; 2],
}

#[cfg(feature = "serde")]
fn write_ends<S: serde::Serializer>(ends: &[Vector3<f64>; 2], to: S) -> Result<S::Ok, S::Error> {
    carom_numeric::stored::finite::serialize(&ends.to_vec(), to)
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    SegmentForm {
        #[serde(with = "carom_numeric::stored::finite")]
        ends: Vec<Vector3<f64>>,
    } -> Segment,
    |form| match form.ends[..] {
        [first, second] => {
            GeometryError::check_finite("end", first.iter().chain(second.iter()))?;
            GeometryError::check_positive("half length", &[0.5 * (second - first).norm()])?;
            Ok(Segment { ends: [first, second] })
        }
        _ => Err(GeometryError::Inconsistent { what: "list of ends" }),
    }
);

impl Segment {
    /// Creates a line segment from half its length (m), its direction `axis` and its midpoint `center`, in the
    /// body frame (m).
    ///
    /// # Errors
    ///
    /// [`GeometryError::InvalidExtent`], [`GeometryError::NonFinite`].
    pub fn new(
        half_length: f64,
        axis: &UnitVector3<f64>,
        center: Vector3<f64>,
    ) -> Result<Self, GeometryError> {
        GeometryError::check_positive("half length", &[half_length])?;
        GeometryError::check_finite("axis", axis.iter())?;
        GeometryError::check_finite("center", center.iter())?;
        let arm = axis.into_inner() * half_length;
        Ok(Self {
            ends: [center - arm, center + arm],
        })
    }

    /// Returns both end points of the segment, in the body frame (m).
    pub fn ends(&self) -> &[Vector3<f64>; 2] {
        &self.ends
    }

    /// Returns the midpoint of the segment, in the body frame (m).
    pub fn center(&self) -> Vector3<f64> {
        (self.ends[0] + self.ends[1]) * 0.5
    }

    /// Returns half of the vector from the first end of the segment to the second (m).
    pub fn half(&self) -> Vector3<f64> {
        (self.ends[1] - self.ends[0]) * 0.5
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        Self {
            ends: self.ends.map(|end| end + by),
        }
    }
}

impl SupportMap for Segment {
    #[inline]
    fn support(&self, direction: &Vector3<f64>) -> Support {
        let [first, second] = self.ends;
        let (low, high) = (first.dot(direction), second.dot(direction));
        if high < low {
            Support {
                point: second,
                value: high,
            }
        } else {
            Support {
                point: first,
                value: low,
            }
        }
    }

    /// Returns zero, because the lowest end of a segment does not change for a small change of direction.
    fn support_derivative(&self, _direction: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::zeros()
    }

    fn bounding_radius(&self) -> f64 {
        self.ends[0].norm().max(self.ends[1].norm())
    }

    fn points_below(&self, direction: &Vector3<f64>, bound: f64, report: PointVisitor<'_>) {
        let low = self.ends.iter().copied();
        low.filter(|end| end.dot(direction) <= bound)
            .for_each(report);
    }
}
