//! Description of the law of two rigid bodies.

use super::{BuiltIn, LawInfo};
use crate::{Routh, TwoBody};

impl BuiltIn for TwoBody {
    const INFO: LawInfo = LawInfo {
        name: "two-body",
        summary: "two rigid bodies in space with Coulomb friction",
        reference: "Jia & Wang",
        example: r#"{"law":"two-body","friction":0.3,"restitution":0.8,"contact":{"point":[0,0,0],"normal":[0,0,1]},"body1":{"mass":2,"inertia":[[0.2,0,0],[0,0.3,0],[0,0,0.4]],"center":[0.1,0,0.5],"velocity":[1,0,-2],"angular_velocity":[0,0,3]}}"#,
        ..Routh::INFO
    };
}
