//! Makespan of a mix of 10 ms calls.
fn main() {}
