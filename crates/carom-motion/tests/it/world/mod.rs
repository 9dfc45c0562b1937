//! Worlds of rigid bodies against closed forms.

mod common;
mod contact;
mod impacts;
mod settling;
