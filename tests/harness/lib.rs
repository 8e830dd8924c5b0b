//! What every integration test needs.
