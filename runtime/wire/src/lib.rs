//! Decoders: bytes of a recorded or live stream become complete `tool_use` blocks.
