//! Tests of the journal below its public face: bytes, faults of the disk, recovery.

mod bytes;
mod durability;
mod faults;
mod recoveries;
mod sim;
mod story;
