//! What a tool is, the papers that a call carries, and the event schema.
