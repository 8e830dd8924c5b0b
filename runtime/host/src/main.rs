//! The program: the command line of the library, on an allocator that is quick at small tasks.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    toolwright::cli::main()
}
