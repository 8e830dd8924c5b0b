//! Decisions about calls, as tables of facts and as laws over random rules and commands.

mod commands;
mod files;
mod laws;
mod modes;
mod setting;
mod tools;
