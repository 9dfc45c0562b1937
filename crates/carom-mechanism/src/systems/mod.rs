//! Small systems written by hand.
//!
//! | system | coordinates | contacts |
//! | --- | --- | --- |
//! | [`Block`] | x, y, angle | two lower corners (or all four) on an inclined floor |

mod block;

pub use block::Block;
