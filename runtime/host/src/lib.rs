//! The assembled runtime: sessions, replay and the command line.
