//! Mistakes that the compiler finds: what a tool's author reads who forgets a piece.
//!
//! The words are those of the toolchain that the gate runs with. After a change of it, look at
//! the new ones and write them with `TRYBUILD=overwrite`.

#[test]
fn a_forgotten_piece_is_named_by_the_compiler() {
    trybuild::TestCases::new().compile_fail("tests/fixtures/mistakes/*.rs");
}
