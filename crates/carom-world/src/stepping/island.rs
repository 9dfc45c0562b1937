//! Islands: groups of bodies that are connected by contacts.

/// Group of mobile bodies that are connected by contact points, and these points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Island {
    /// Indices of the bodies, in ascending order.
    pub(super) bodies: Vec<usize>,
    /// Indices of the contact points, in ascending order.
    pub(super) contacts: Vec<usize>,
}

impl Island {
    /// Returns the position of a body in the list of the island's bodies; `None` if the island (bodies connected by contacts)
    /// does not contain it.
    pub(super) fn place(&self, body: usize) -> Option<usize> {
        self.bodies.binary_search(&body).ok()
    }
}

/// Groups contacts into islands, that is, sets of bodies that contacts connect. A contact is given by the indices of its two
/// bodies; the second is `None` if that body does not move. The islands are in the order of their first contacts.
pub(super) fn islands(n_bodies: usize, contacts: &[(usize, Option<usize>)]) -> Vec<Island> {
    let mut parent: Vec<usize> = (0..n_bodies).collect();
    for &(first, second) in contacts {
        let Some(second) = second else { continue };
        let (a, b) = (root(&mut parent, first), root(&mut parent, second));
        parent[a.max(b)] = a.min(b);
    }
    let mut index: Vec<Option<usize>> = vec![None; n_bodies];
    let mut out: Vec<Island> = Vec::new();
    for (c, &(first, _)) in contacts.iter().enumerate() {
        let r = root(&mut parent, first);
        let i = *index[r].get_or_insert_with(|| {
            out.push(Island::default());
            out.len() - 1
        });
        out[i].contacts.push(c);
    }
    for body in 0..n_bodies {
        let r = root(&mut parent, body);
        if let Some(i) = index[r] {
            out[i].bodies.push(body);
        }
    }
    out
}

/// Returns the representative of the group that contains a body, in a union-find forest. `parent` is the parent of each body; the
/// paths followed are shortened by half.
fn root(parent: &mut [usize], mut body: usize) -> usize {
    while parent[body] != body {
        parent[body] = parent[parent[body]];
        body = parent[body];
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_things_do_not_connect_bodies() {
        let contacts = [
            (4, None),
            (0, None),
            (1, Some(3)),
            (3, Some(4)),
            (2, None),
            (0, None),
        ];
        let found = islands(6, &contacts);
        let of = |bodies: &[usize], contacts: &[usize]| Island {
            bodies: bodies.to_vec(),
            contacts: contacts.to_vec(),
        };
        let expected = [
            of(&[1, 3, 4], &[0, 2, 3]),
            of(&[0], &[1, 5]),
            of(&[2], &[4]),
        ];
        assert_eq!(found, expected);
    }
}
