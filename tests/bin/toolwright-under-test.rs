//! The program, built in this package so that its tests can find it.

fn main() -> std::process::ExitCode {
    toolwright::cli::main()
}
