//! Worlds of rigid bodies against closed forms.

mod common;
mod contact;
mod guard;
mod impacts;
mod scales;
mod settling;
mod zeno;
