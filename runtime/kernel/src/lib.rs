//! The rules of one turn of tool calls, and nothing else.
