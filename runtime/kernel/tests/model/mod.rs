//! The world around a turn: what the shells owe the kernel, and the laws it is held to.
//!
//! The world is judged by the orders that were given and the facts that were told, never by what
//! the kernel says of itself. It depends on nothing but the kernel, so that the mutants can be
//! built next to it by a bare compiler.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that fails says where")]
#![allow(dead_code, reason = "each test uses its own part of the model")]

pub(crate) mod call;
pub(crate) mod dishonest;
pub(crate) mod laws;
mod orders;
pub(crate) mod scope;
pub(crate) mod sights;
mod standing;
pub(crate) mod walk;
pub(crate) mod world;
