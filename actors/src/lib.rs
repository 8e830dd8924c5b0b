//! The actor shells around the kernel.
