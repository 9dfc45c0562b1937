//! Normals that point into the solid. A planar body touches its wall at the opposite side then.

use super::Kind;
use crate::system::System;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "normals-reversed",
    choices: |_, _| vec![KIND.change(Vec::new(), Vec::new(), Vec::new())],
    rest: |_, _, _, state| {
        let n = state.dim();
        for touch in &mut state.contacts {
            touch
                .rows
                .iter_mut()
                .take(n)
                .for_each(|entry| *entry = -*entry);
        }
        true
    },
    system: |_, system| {
        let Some(body) = system.planar() else {
            return system.clone();
        };
        let mut body = (**body).clone();
        body.wall.normal = -body.wall.normal;
        body.wall.offset = body.wall.offset.map(|offset| -offset);
        System::PlanarBody(Arc::new(body))
    },
    words: |_| "the normals pointing the other way".to_owned(),
    ..Kind::NONE
};
