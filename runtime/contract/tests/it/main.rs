//! The contract read as a specification: histories, events, papers, schemas and wording.
#![allow(clippy::unwrap_used, reason = "in a test program a panic is the report")]

mod compile_errors;
mod detached;
mod event_schema;
mod history_mutations;
mod history_rules;
mod inputs;
mod judged;
mod mcp;
mod outside_schema;
mod papers;
mod pool;
mod present;
mod published_schema;
mod registry;
mod script;
mod small_house;
mod small_tool;
mod stop;
mod tool_list;
mod wording;
