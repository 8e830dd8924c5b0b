//! The warden as a program of its own, for an embedder that isn't the `toolwright` program.

fn main() -> std::process::ExitCode {
    toolwright_warden::serve()
}
