//! Worlds of rigid bodies against closed forms.

mod common;
mod contact;
mod guard;
mod heaps;
mod impacts;
mod many;
mod scales;
mod settling;
mod shapes;
mod zeno;
