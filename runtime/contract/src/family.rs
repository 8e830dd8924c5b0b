//! Families of tools: what permission rules for a tool are about.

/// What a rule's specifier is about, for the tools of one kind (Claude Code docs 2.1.240).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Family {
    /// Commands of a POSIX shell.
    Command,
    /// Commands in a language that isn't analysed: rules see their text, and nothing is allowed
    /// by a part of it.
    ForeignCommand,
    /// Files that are read.
    ReadPath,
    /// Files that are changed.
    EditPath,
    /// An address on the web.
    Domain,
    /// A skill, with arguments.
    Skill,
    /// A type of agent.
    Agent,
    /// A tool of an MCP server.
    Server,
    /// Nothing: rules name the tool alone.
    #[default]
    Plain,
}
