//! Random orders of impacts, for problems with too many orders to follow.

use super::chain::refuse_jam;
use super::tree::{Found, Layout, leaf, merge_tolerances};
use super::{DEFAULT_MAX_IMPACTS, Propagative, SEQUENCE_LIMIT, SequenceFilter, minimal};
use carom_contact::{DrawnOrders, ImpactError, ImpactProblem, UnitRow};
use carom_numeric::random::CounterRng;

/// Contribution of each requested order to the total budget of impacts.
const IMPACTS_AN_ORDER: u64 = 1000;
/// Contribution of each state of `max_nodes` to the total budget of impacts.
const IMPACTS_A_NODE: u64 = 100;

/// Largest number of random orders of impacts that can be requested.
const MAX_ORDERS: u64 = 1_000_000;

/// Returns an error if the number of orders that the law may draw is out of range.
pub(super) fn check(law: &Propagative) -> Result<(), ImpactError> {
    if (1..=MAX_ORDERS).contains(&law.samples) {
        return Ok(());
    }
    Err(ImpactError::InvalidOption {
        what: "samples",
        value: law.samples as f64,
        allowed: "from 1 to 1000000",
    })
}

/// Computes the outcomes of random orders of impacts and adds them to `found`. In each state one of the approaching contacts
/// is drawn with equal probability. If orders are long, fewer are followed than the law requests; the returned statistics
/// contain the number of orders followed.
pub(super) fn draw(
    problem: &ImpactProblem,
    law: &Propagative,
    found: &mut Found,
) -> Result<DrawnOrders, ImpactError> {
    check(law)?;
    refuse_jam(problem, problem.unit_velocity(), problem.grazing())?;
    let layout = Layout::of(problem);
    let limit = law.max_impacts.unwrap_or(DEFAULT_MAX_IMPACTS);
    let tolerances = merge_tolerances(problem);
    let start = layout.start(problem);
    let mut row = start.clone();
    let mut approaching = Vec::with_capacity(layout.m);
    let mut met: Vec<u64> = Vec::new();
    let budget =
        IMPACTS_AN_ORDER * law.samples + IMPACTS_A_NODE.saturating_mul(law.max_nodes as u64);
    let (mut orders, mut followed) = (0, 0u64);
    while orders < law.samples && followed < budget {
        let mut stream = CounterRng::new(law.seed, orders, 0);
        orders += 1;
        row.copy_from_slice(&start);
        let mut sequence = Vec::new();
        let mut impacts = 0;
        loop {
            let state = layout.read(&row);
            approaching.clear();
            approaching.extend(UnitRow::all(layout.m).filter(|i| state.approaches(*i)));
            if approaching.is_empty() {
                break;
            }
            if impacts == limit {
                return Err(ImpactError::too_many_impacts(impacts));
            }
            let pick = (u128::from(stream.next_bits()) * approaching.len() as u128) >> 64;
            let struck = approaching[pick as usize];
            layout.reflect(problem, &mut row, struck);
            impacts += 1;
            if impacts <= SEQUENCE_LIMIT {
                sequence.push(struck);
            }
        }
        followed = followed.saturating_add(impacts);
        if law.filter == SequenceFilter::Minimal
            && !(sequence.len() <= minimal::MINIMALITY_LIMIT
                && minimal::places_are_minimal(problem, &sequence)?)
        {
            continue;
        }
        let sequence = (impacts <= SEQUENCE_LIMIT).then_some(sequence);
        let end = leaf(problem, &layout.read(&row), impacts, 1, sequence);
        let place = found.push(end, &tolerances);
        if place >= met.len() {
            met.resize(place + 1, 0);
        }
        met[place] += 1;
    }
    let once = met.iter().filter(|n| **n == 1).count();
    Ok(DrawnOrders::new(orders, once as f64 / orders as f64))
}
