//! Motion as plain data: bodies with a pose at each of a list of times.
//!
//! An [`Animation`] gives a player what a [`Figure`](crate::record::Figure) gives a renderer: shapes
//! that never change, and their poses in each frame. A player interpolates between two frames. Each
//! impact has its own frame, so that bodies turn around at the contact and not short of it. The clock
//! need not be time: for a path through an impact the clock is the impulse, or the number of elementary
//! impacts so far.
//!
//! # Rounding
//!
//! Frames are for display only. [`Animation::round`] rounds lengths to the largest
//! power of ten that is at most $10^{-5}$ of the extent of the motion, angles and quaternions to
//! $10^{-5}$, and times to at most $10^{-6}$ of the duration. The results of the run, in the quantities
//! and tables of its record, are never rounded.

mod rounding;
mod space;

pub use space::{PointImpulse, Solid, SpaceBody, Wall};

use serde::{Deserialize, Serialize};

use crate::record::figure::Color;
use crate::record::table::Column;
use rounding::{ANGLE_DECIMALS, LENGTH_SHARE, all_finite, decimals, extent, round_all, rounded};

/// Largest number of frames (pictures with a time each) that an animation may have.
pub const MOST_FRAMES: usize = 600;

/// Animation of moving bodies, in the plane or in space, as a list of frames with times and captions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Animation {
    /// Name, unique in its record.
    pub name: String,
    /// Title above the picture.
    pub title: String,
    /// Caption below the picture.
    pub caption: String,
    /// Quantity that advances while the animation plays, and its unit.
    pub clock: Column,
    /// Clock value of each frame, never decreasing.
    pub times: Vec<f64>,
    /// Clock values of the impacts; each is also the clock value of a frame.
    pub impacts: Vec<f64>,
    /// Impulses at contact points, each at the clock value of an impact, sorted by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub impulses: Vec<PointImpulse>,
    /// Shapes and poses of the bodies.
    pub scene: Scene,
}

/// Contents of an animation: bodies in the plane, or bodies in space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "space", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scene {
    /// Outlines in the plane, x to the right and y up.
    Plane {
        /// Labels of the axes through the origin, for a path in a plane of velocities; `None` for a drawing of
        /// bodies.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        axes: Option<[String; 2]>,
        /// Outlines that do not move.
        fixed: Vec<Outline>,
        /// Moving bodies.
        bodies: Vec<PlaneBody>,
        /// Arrows, drawn above the bodies.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        arrows: Vec<MovingArrow>,
    },
    /// Solids above a plane, in space, with z up.
    Space {
        /// Normal of the plane, out of the solid ground.
        normal: [f64; 3],
        /// Offset of the plane (m): the ground is where `normal . z + offset <= 0`.
        offset: f64,
        /// True if the ground is drawn; false in a world without a floor.
        #[serde(default = "yes", skip_serializing_if = "is_true")]
        ground: bool,
        /// Further planes besides the ground, drawn as edges of rectangles.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        walls: Vec<Wall>,
        /// Bodies, moving and fixed.
        bodies: Vec<SpaceBody>,
    },
}

/// Shape with a color in a plane animation. The coordinates are relative to the body to which the shape belongs. For a shape
/// that does not move, the coordinates are those of the picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Shape to draw.
    pub shape: PlaneShape,
    /// Color of the line; a closed shape is filled with a light tint of it.
    #[serde(default)]
    pub color: Color,
}

/// Geometry of a shape drawn in a plane animation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PlaneShape {
    /// A disk.
    Disk {
        /// Center, x.
        x: f64,
        /// Center, y.
        y: f64,
        /// Radius.
        radius: f64,
    },
    /// A polyline.
    Line {
        /// Abscissas.
        x: Vec<f64>,
        /// Ordinates.
        y: Vec<f64>,
        /// True if the last point is joined to the first and the inside is filled.
        #[serde(default)]
        closed: bool,
    },
}

impl Outline {
    /// Creates the shape of a filled disk for a plane animation, in coordinates of its body.
    pub fn disk(center: [f64; 2], radius: f64, color: Color) -> Self {
        let [x, y] = center;
        let shape = PlaneShape::Disk { x, y, radius };
        Self { shape, color }
    }

    /// Creates the shape of an open polyline for a plane animation, such as a link, a wall or a floor.
    pub fn line(points: impl IntoIterator<Item = [f64; 2]>, color: Color) -> Self {
        Self::polyline(points, false, color)
    }

    /// Creates the shape of a closed, filled polygon for a plane animation.
    pub fn polygon(points: impl IntoIterator<Item = [f64; 2]>, color: Color) -> Self {
        Self::polyline(points, true, color)
    }

    fn polyline(points: impl IntoIterator<Item = [f64; 2]>, closed: bool, color: Color) -> Self {
        let (x, y) = points.into_iter().map(|[x, y]| (x, y)).unzip();
        let shape = PlaneShape::Line { x, y, closed };
        Self { shape, color }
    }
}

/// Rigid body in a plane animation: its shapes and its pose in every frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaneBody {
    /// Name drawn beside the body; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Outlines of the body, in body coordinates.
    pub outlines: Vec<Outline>,
    /// Abscissa of the body's origin.
    pub x: Vec<f64>,
    /// Ordinate of the body's origin.
    pub y: Vec<f64>,
    /// Angle, counterclockwise (rad); empty if the body never turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub angle: Vec<f64>,
    /// True if the path of the body's origin is drawn behind the body.
    #[serde(default)]
    pub trail: bool,
}

impl PlaneBody {
    /// Creates a body of a plane animation from its shapes and a pose `[x, y, angle]` (angle in rad) for every frame.
    pub fn new(outlines: Vec<Outline>, poses: impl IntoIterator<Item = [f64; 3]>) -> Self {
        let mut body = Self {
            label: String::new(),
            outlines,
            x: Vec::new(),
            y: Vec::new(),
            angle: Vec::new(),
            trail: false,
        };
        for [x, y, angle] in poses {
            body.x.push(x);
            body.y.push(y);
            body.angle.push(angle);
        }
        if body.angle.iter().all(|angle| *angle == 0.0) {
            body.angle.clear();
        }
        body
    }

    /// Requests that the animation draws the path of the body's origin behind the body.
    #[must_use]
    pub fn trail(mut self) -> Self {
        self.trail = true;
        self
    }

    /// Requests that the animation writes the name `label` beside the body.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }
}

/// Arrow in a plane animation whose tail and length change with time, such as a velocity or an impulse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovingArrow {
    /// Name drawn beside the tip; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Color.
    pub color: Color,
    /// Tail, x.
    pub x: Vec<f64>,
    /// Tail, y.
    pub y: Vec<f64>,
    /// x component from tail to tip, in lengths of the picture.
    pub dx: Vec<f64>,
    /// y component from tail to tip, in lengths of the picture.
    pub dy: Vec<f64>,
}

impl MovingArrow {
    /// Creates an arrow of a plane animation. Each frame has an entry `[x, y, dx, dy]`: the position of the tail, and the
    /// vector from the tail to the tip, both in the length unit of the picture.
    pub fn new(color: Color, frames: impl IntoIterator<Item = [f64; 4]>) -> Self {
        let mut arrow = Self {
            label: String::new(),
            color,
            x: Vec::new(),
            y: Vec::new(),
            dx: Vec::new(),
            dy: Vec::new(),
        };
        for [x, y, dx, dy] in frames {
            arrow.x.push(x);
            arrow.y.push(y);
            arrow.dx.push(dx);
            arrow.dy.push(dy);
        }
        arrow
    }
}

impl Animation {
    /// Creates an animation in the plane, without bodies so far. `times` holds the times of the frames and `impacts` the times
    /// of the impacts (s). The clock of the animation shows the time in seconds.
    ///
    /// # Examples
    ///
    /// A ball that falls for a second and bounces:
    ///
    /// ```
    /// use carom_report::animation::{Animation, Outline, PlaneBody};
    /// use carom_report::record::Color;
    ///
    /// let impact = 0.8;
    /// let height = |t: f64| 4.905 * (impact * impact - t * t);
    /// let times = Animation::frames(0.0, 1.0, 20, &[impact]);
    /// let poses = times.iter().map(|t| {
    ///     let t = impact - (t - impact).abs();
    ///     [0.0, height(t) + 0.1, 0.0]
    /// });
    /// let ball = PlaneBody::new(vec![Outline::disk([0.0, 0.0], 0.1, Color::Blue)], poses);
    /// let drop = Animation::plane("drop", "A drop", "A ball bounces.", times.clone(), vec![impact])
    ///     .fixed(Outline::line([[-1.0, 0.0], [1.0, 0.0]], Color::Gray))
    ///     .body(ball);
    /// assert_eq!(drop.problem(), None);
    /// ```
    pub fn plane(
        name: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        times: Vec<f64>,
        impacts: Vec<f64>,
    ) -> Self {
        let scene = Scene::Plane {
            axes: None,
            fixed: Vec::new(),
            bodies: Vec::new(),
            arrows: Vec::new(),
        };
        Self {
            name: name.into(),
            title: title.into(),
            caption: caption.into(),
            clock: Column::new("time", "s"),
            times,
            impacts,
            impulses: Vec::new(),
            scene,
        }
    }

    /// Creates an animation of solid bodies in space, above the ground plane of the points $z$ with `normal . z + offset = 0`.
    /// `times` holds the times of the frames and `impacts` the times of the impacts (s). The clock of the animation shows the
    /// time in seconds.
    pub fn space(
        name: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        (times, impacts): (Vec<f64>, Vec<f64>),
        (normal, offset): ([f64; 3], f64),
        bodies: Vec<SpaceBody>,
    ) -> Self {
        Self {
            scene: Scene::Space {
                normal,
                offset,
                ground: true,
                walls: Vec::new(),
                bodies,
            },
            ..Self::plane(name, title, caption, times, impacts)
        }
    }

    /// Shows a quantity with this name and unit as the clock of the animation, instead of time in seconds.
    #[must_use]
    pub fn clock(mut self, name: impl Into<String>, unit: impl Into<String>) -> Self {
        self.clock = Column::new(name, unit);
        self
    }

    /// Adds a shape that does not move to a plane animation. An animation in space is left unchanged; there only the ground is
    /// fixed.
    #[must_use]
    pub fn fixed(mut self, outline: Outline) -> Self {
        if let Scene::Plane { fixed, .. } = &mut self.scene {
            fixed.push(outline);
        }
        self
    }

    /// Adds a wall to an animation in space, in addition to the ground. An animation in the plane is left unchanged.
    #[must_use]
    pub fn wall(mut self, wall: Wall) -> Self {
        if let Scene::Space { walls, .. } = &mut self.scene {
            walls.push(wall);
        }
        self
    }

    /// Omits the ground of an animation in space, for a world without a floor.
    #[must_use]
    pub fn without_ground(mut self) -> Self {
        if let Scene::Space { ground, .. } = &mut self.scene {
            *ground = false;
        }
        self
    }

    /// Sets the impulses at contact points that an animation shows, each at its time. The list is sorted by time and replaces
    /// an earlier list.
    #[must_use]
    pub fn impulses(mut self, mut impulses: Vec<PointImpulse>) -> Self {
        impulses.sort_by(|a, b| a.time.total_cmp(&b.time));
        self.impulses = impulses;
        self
    }

    /// Adds a body to a plane animation. An animation in space is left unchanged.
    #[must_use]
    pub fn body(mut self, body: PlaneBody) -> Self {
        if let Scene::Plane { bodies, .. } = &mut self.scene {
            bodies.push(body);
        }
        self
    }

    /// Adds an arrow, such as a velocity or an impulse, to a plane animation. An animation in space is left unchanged.
    #[must_use]
    pub fn arrow(mut self, arrow: MovingArrow) -> Self {
        if let Scene::Plane { arrows, .. } = &mut self.scene {
            arrows.push(arrow);
        }
        self
    }

    /// Draws axes through the origin of a plane animation, with the labels `x` and `y`. An animation in space is left
    /// unchanged.
    #[must_use]
    pub fn axes(mut self, x: impl Into<String>, y: impl Into<String>) -> Self {
        if let Scene::Plane { axes, .. } = &mut self.scene {
            *axes = Some([x.into(), y.into()]);
        }
        self
    }

    /// Returns the times of the frames of an animation: the ends of `n` equal intervals from `start` to `end`, and the times
    /// `instants` between them, such as impacts.
    ///
    /// Instants that would exceed [`MOST_FRAMES`] are left out, the last ones in the list first.
    #[must_use]
    pub fn frames(start: f64, end: f64, n: usize, instants: &[f64]) -> Vec<f64> {
        let n = n.clamp(1, MOST_FRAMES - 1);
        let even = (0..=n).map(|k| start + (end - start) * k as f64 / n as f64);
        let room = MOST_FRAMES - 1 - n;
        let inside = instants.iter().copied().filter(|t| start < *t && *t < end);
        let mut times: Vec<f64> = even.chain(inside.take(room)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Returns the name of the first list of the animation that holds a NaN or infinity; `None` if all numbers are finite.
    pub fn non_finite(&self) -> Option<String> {
        let mut lists = vec![("times", &self.times), ("impacts", &self.impacts)];
        self.scene.series(&mut lists);
        lists
            .iter()
            .find(|(_, list)| !all_finite(list))
            .map(|(name, _)| (*name).to_owned())
            .or_else(|| {
                let good = self.impulses.iter().all(PointImpulse::is_finite);
                (!good).then(|| "impulses".to_owned())
            })
            .or_else(|| self.scene.non_finite().map(str::to_owned))
    }

    /// Describes the first fault of the animation: lengths of lists, order of times, indices, or a number that is not finite.
    /// Returns `None` if the animation has no fault.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let n = self.times.len();
        if n == 0 || n > MOST_FRAMES {
            return Some(format!("{n} frames; 1 to {MOST_FRAMES} are possible"));
        }
        let mut series = Vec::new();
        self.scene.series(&mut series);
        let wrong = |(name, list): &&(&str, &Vec<f64>)| {
            list.len() != n && !(list.len() == 1 && *name == space::FIXED)
        };
        if let Some((name, list)) = series.iter().find(wrong) {
            return Some(format!("{} of {name} for {n} frames", list.len()));
        }
        if let Some(name) = self.non_finite() {
            return Some(format!("a number of {name} is not finite"));
        }
        if !self.times.is_sorted() {
            return Some("times decrease".to_owned());
        }
        if let Some(impact) = self.impacts.iter().find(|t| !self.times.contains(t)) {
            return Some(format!("no frame at the impact at {impact}"));
        }
        let mut impulses = self.impulses.iter();
        if let Some(impulse) = impulses.find(|impulse| !self.impacts.contains(&impulse.time)) {
            return Some(format!("no impact at the impulse at {}", impulse.time));
        }
        self.scene.problem()
    }

    /// Rounds every number of the animation, which is for display only. Lengths are rounded to a power of ten of at most
    /// $10^{-5}$ times the extent of the motion, angles and quaternions to $10^{-5}$, and times to at most $10^{-6}$ times the
    /// duration.
    pub fn round(&mut self) {
        let duration = extent(&[&self.times]);
        let decimals = decimals(duration, 1e-6);
        for time in self.times.iter_mut().chain(&mut self.impacts) {
            *time = rounded(*time, decimals);
        }
        for impulse in &mut self.impulses {
            impulse.time = rounded(impulse.time, decimals);
        }
        let lengths = self.scene.round();
        for impulse in &mut self.impulses {
            impulse.round(lengths);
        }
    }
}

impl Scene {
    /// Appends to `lists` every list of the scene that has one number per frame, such as coordinates and angles, each with
    /// the name of its field.
    fn series<'a>(&'a self, lists: &mut Vec<(&'static str, &'a Vec<f64>)>) {
        match self {
            Self::Plane { bodies, arrows, .. } => {
                for body in bodies {
                    lists.extend([("x", &body.x), ("y", &body.y)]);
                    if !body.angle.is_empty() {
                        lists.push(("angle", &body.angle));
                    }
                }
                for arrow in arrows {
                    lists.extend([("x", &arrow.x), ("y", &arrow.y)]);
                    lists.extend([("dx", &arrow.dx), ("dy", &arrow.dy)]);
                }
            }
            Self::Space { bodies, .. } => {
                for body in bodies {
                    lists.extend(body.series());
                }
            }
        }
    }

    /// Returns `"shapes"` if a number in the shapes, the ground or the walls of the scene is infinite or NaN; otherwise
    /// `None`.
    fn non_finite(&self) -> Option<&'static str> {
        let good = match self {
            Self::Plane { .. } => self.outlines().all(|outline| outline.shape.is_finite()),
            Self::Space {
                normal,
                offset,
                walls,
                bodies,
                ..
            } => {
                let mut solids = bodies.iter().flat_map(|body| &body.solids);
                let planes = all_finite(normal) && offset.is_finite();
                planes && walls.iter().all(Wall::is_finite) && solids.all(Solid::is_finite)
            }
        };
        (!good).then_some("shapes")
    }

    /// Iterates over the outlines of all bodies and of the fixed scenery of a plane scene; a scene in space has no
    /// outlines.
    fn outlines(&self) -> impl Iterator<Item = &Outline> {
        let (bodies, fixed): (&[PlaneBody], &[Outline]) = match self {
            Self::Plane { bodies, fixed, .. } => (bodies, fixed),
            Self::Space { .. } => (&[], &[]),
        };
        bodies.iter().flat_map(|body| &body.outlines).chain(fixed)
    }

    /// Describes the first fault of the scene's shapes and planes, such as a negative radius or a zero normal; `None` if
    /// there is no fault. Infinite numbers and NaN are not checked here.
    fn problem(&self) -> Option<String> {
        match self {
            Self::Plane { .. } => self.outlines().find_map(|outline| outline.shape.problem()),
            Self::Space {
                normal,
                walls,
                bodies,
                ..
            } => {
                if *normal == [0.0; 3] {
                    return Some("the ground's normal is zero".to_owned());
                }
                if let Some(wall) = walls.iter().find(|wall| wall.normal == [0.0; 3]) {
                    return Some(format!("the normal of wall `{}` is zero", wall.label));
                }
                let mut solids = bodies.iter().flat_map(|body| &body.solids);
                solids.find_map(Solid::problem)
            }
        }
    }

    /// Rounds every coordinate, length and angle of the scene. Returns the number of decimals to which lengths were
    /// rounded.
    fn round(&mut self) -> i32 {
        match self {
            Self::Plane {
                fixed,
                bodies,
                arrows,
                ..
            } => {
                let paths = bodies.iter().map(|body| (&body.x, &body.y));
                let tails = arrows.iter().map(|arrow| (&arrow.x, &arrow.y));
                let shapes = bodies.iter().flat_map(|body| &body.outlines);
                let shapes = shapes.chain(&*fixed).map(|outline| outline.shape.size());
                let (x, y): (Vec<_>, Vec<_>) = paths
                    .chain(tails)
                    .map(|(x, y)| (x.as_slice(), y.as_slice()))
                    .unzip();
                let size = shapes.fold(extent(&x).max(extent(&y)), f64::max);
                let decimals = decimals(size, LENGTH_SHARE);
                let outlines = bodies.iter_mut().flat_map(|body| &mut body.outlines);
                for outline in outlines.chain(fixed) {
                    outline.shape.round(decimals);
                }
                for body in bodies {
                    round_all([&mut body.x, &mut body.y], decimals);
                    round_all([&mut body.angle], ANGLE_DECIMALS);
                }
                for arrow in arrows {
                    let lists = [&mut arrow.x, &mut arrow.y, &mut arrow.dx, &mut arrow.dy];
                    round_all(lists, decimals);
                }
                decimals
            }
            Self::Space { bodies, .. } => {
                let lists = bodies.iter().flat_map(|body| &body.position);
                let sizes = bodies.iter().flat_map(|body| &body.solids).map(Solid::size);
                let moved = lists.map(|list| extent(&[list])).fold(0.0, f64::max);
                let decimals = decimals(sizes.fold(moved, f64::max), LENGTH_SHARE);
                for body in bodies {
                    round_all(&mut body.position, decimals);
                    round_all(&mut body.rotation, ANGLE_DECIMALS);
                    body.solids.iter_mut().for_each(|s| s.round(decimals));
                }
                decimals
            }
        }
    }
}

impl PlaneShape {
    fn is_finite(&self) -> bool {
        match self {
            Self::Disk { x, y, radius } => all_finite(&[*x, *y, *radius]),
            Self::Line { x, y, .. } => all_finite(x) && all_finite(y),
        }
    }

    fn problem(&self) -> Option<String> {
        match self {
            Self::Disk { radius, .. } if *radius < 0.0 => Some(format!("disk of radius {radius}")),
            Self::Line { x, y, .. } if x.len() != y.len() => {
                Some(format!("outline of {} x and {} y", x.len(), y.len()))
            }
            _ => None,
        }
    }

    fn size(&self) -> f64 {
        match self {
            Self::Disk { radius, .. } => 2.0 * radius,
            Self::Line { x, y, .. } => extent(&[x]).max(extent(&[y])),
        }
    }

    fn round(&mut self, decimals: i32) {
        match self {
            Self::Disk { x, y, radius } => {
                for v in [x, y, radius] {
                    *v = rounded(*v, decimals);
                }
            }
            Self::Line { x, y, .. } => round_all([x, y], decimals),
        }
    }
}

fn yes() -> bool {
    true
}

/// Returns the flag itself. The JSON library serde calls this function and omits a flag that is true from the file, because
/// true is its default value.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_true(flag: &bool) -> bool {
    *flag
}

#[cfg(test)]
mod tests;
