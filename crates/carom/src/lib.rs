//! Impacts of rigid bodies: laws, derivatives, verdicts and motions through impacts.
//!
//! This facade re-exports carom's crates; each can also be used by itself.
//!
//! | module | crate | contents |
//! | --- | --- | --- |
//! | [`metric`] | `carom-metric` | the mass matrix as an inner product |
//! | [`lie`] | `carom-lie` | rotations and rigid motions |
//! | [`geometry`] | `carom-geometry` | shapes, gaps, mass properties |
//! | [`two_body`] | `carom-two-body` | one frictional contact of two bodies, in closed form |
//! | [`contact`] | `carom-contact` | contact problems, outcomes, the gate, audits |
//! | [`impact`] | `carom-impact` | impact laws |
//! | [`derivative`] | `carom-derivative` | derivatives of impacts |
//! | [`judge`] | `carom-judge` | verdicts on outcomes that somebody else computed |
//! | [`lcp`] | `carom-lcp` | linear complementarity problems |
//! | [`mechanism`] | `carom-mechanism` | mechanical systems in generalized coordinates |
//! | [`variational`] | `carom-variational` | flights and steps between impacts |
//! | `motion` | `carom-motion` | motion through impacts: one body, mechanisms, billiards |
//! | `world` | `carom-world` | worlds of rigid bodies: flights, impacts, lasting contact, joints, heaps |
//! | `report` | `carom-report` | records, tables, figures, animations and their files |
//! | `scenarios` | `carom-scenarios` | the papers' examples as named runs |
//!
//! | I have | I use |
//! | --- | --- |
//! | a mass matrix, contact rows and a velocity | [`impact::ContactSet`], [`impact::ImpactProblem`], a law of [`impact`] |
//! | the name of a law, read from a file | [`impact::Law::named`] |
//! | two free bodies and one contact between them | [`two_body`] |
//! | contacts, and I want the outcomes of all orders of impacts | [`impact::Propagative`], [`impact::frictional::SetValued`] |
//! | a law, and I want its Jacobian | [`derivative::differentiate`] |
//! | the outcome of an engine | [`judge`], `carom judge` |
//! | wheels or blades that do not slip | the nonholonomic laws of [`impact`] |
//! | bodies that fly, hit and rest | `world` |
//! | joint coordinates with contacts | [`mechanism`], `motion::generalized` |
//! | a complementarity problem | [`lcp`] |
//! | one of the papers' examples | `scenarios` |
//!
//! | feature | adds |
//! | --- | --- |
//! | `motion` (default) | the modules `motion` and `world` |
//! | `scenarios` (default) | the modules `scenarios` and `report`, and with them files, plots and configuration formats |
//! | `meshes` | meshes from the bytes of STL and OBJ files (part of `scenarios`) |
//! | `serde` | results, poses and specifications, written and read: every bit comes back, and reading checks them |
//! | `rayon` | samples of set-valued impacts on all threads of the current pool; the same bits |
//! | `pictures` | figures as PNG and PDF |
//! | `bounds` | proven bounds of all outcomes of an impact |
//! | `faer` | faster factorizations from dimension 48 on; results differ by rounding only |
//!
//! Re-exported, because its types appear in signatures: [`nalgebra`].
//!
//! # Examples
//!
//! Three balls in a row, the middle one lighter: the outcome depends on the order of impacts, and
//! carom computes by how much.
//!
//! ```
//! use carom::impact::{Contact, ContactSet, ImpactProblem, Propagative, SetValuedLaw};
//! use carom::metric::{Covector, KineticMetric, Tangent};
//! use carom::nalgebra::{DMatrix, DVector};
//!
//! let metric = KineticMetric::new(DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 0.5, 3.0])))?;
//! let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]].map(|u| Covector::from_slice(&u));
//! let contacts = ContactSet::new(&metric, normals.map(Contact::frictionless).to_vec())?;
//! let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, -1.0]))?;
//! let set = Propagative::default().resolve_all(&problem)?;
//! assert_eq!(set.outcomes.len(), 2);
//! assert!(set.indeterminacy > 0.1);
//! assert!(set.outcomes.iter().all(|o| o.audit.energy_change_j().abs() < 1e-14));
//! # Ok::<(), carom::impact::ImpactError>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

#[cfg(feature = "scenarios")]
pub use carom_analyse as analyse;
pub use carom_contact as contact;
pub use carom_derivative as derivative;
pub use carom_geometry as geometry;
pub use carom_impact as impact;
pub use carom_judge as judge;
pub use carom_lcp as lcp;
pub use carom_lie as lie;
pub use carom_mechanism as mechanism;
pub use carom_metric as metric;
#[cfg(feature = "motion")]
pub use carom_motion as motion;
pub use carom_numeric::NUMERICS_VERSION;
#[cfg(feature = "scenarios")]
pub use carom_report as report;
#[cfg(feature = "scenarios")]
pub use carom_scenarios as scenarios;
pub use carom_two_body as two_body;
pub use carom_variational as variational;
#[cfg(feature = "motion")]
pub use carom_world as world;
pub use nalgebra;

/// Compiles and runs the programs in the documentation.
#[cfg(all(doctest, feature = "scenarios"))]
mod documents {
    #[doc = include_str!("../README.md")]
    mod crate_readme {}

    #[doc = include_str!("../../../README.md")]
    mod readme {}

    #[doc = include_str!("../../../docs/src/quick-start.md")]
    mod quick_start {}

    #[doc = include_str!("../../../docs/src/your-own-impact.md")]
    mod your_own_impact {}

    #[doc = include_str!("../../../docs/src/your-own-mechanism.md")]
    mod your_own_mechanism {}
}
