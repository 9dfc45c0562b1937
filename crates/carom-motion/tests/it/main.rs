//! Worlds of rigid bodies against closed forms.
#![allow(clippy::unwrap_used)]

mod common;
mod contact;
mod impacts;
mod settling;
