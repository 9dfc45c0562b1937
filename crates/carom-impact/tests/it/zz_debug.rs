use crate::relations::{Case, Random};
#[test]
fn dump() {
    let name = std::env::var("LAW").unwrap();
    let k: u64 = std::env::var("K").unwrap().parse().unwrap();
    let law = carom_impact::Law::all()
        .into_iter()
        .find(|l| carom_impact::ImpactLaw::name(l) == name)
        .unwrap();
    let mut random = Random(7 + k);
    let case = match k % 3 {
        2 => crate::derivative_relations::whole(&law, &mut random),
        _ => Case::random(&law, &mut random),
    };
    let row = |v: &nalgebra::DVector<f64>| format!("{:?}", v.as_slice());
    let mass: Vec<String> = (0..case.mass.nrows())
        .map(|i| row(&case.mass.row(i).transpose()))
        .collect();
    let contacts: Vec<String> = case
        .contacts
        .iter()
        .map(|c| {
            format!(
                "{{\"normal\":{},\"tangents\":[{}],\"friction\":{},\"restitution\":{}}}",
                row(&c.normal.0),
                c.tangents
                    .iter()
                    .map(|t| row(&t.0))
                    .collect::<Vec<_>>()
                    .join(","),
                c.friction,
                c.restitution
            )
        })
        .collect();
    println!(
        "LINE {{\"law\":\"{name}\",\"mass_matrix\":[{}],\"velocity\":{},\"contacts\":[{}],\"derivative\":true}}",
        mass.join(","),
        row(&case.velocity),
        contacts.join(",")
    );
}
