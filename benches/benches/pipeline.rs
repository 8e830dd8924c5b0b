//! Cost per no-op call through the whole pipeline, against bare `tokio::spawn` and join.
fn main() {}
