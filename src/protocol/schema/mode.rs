//! The kinds of types that a provider has.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceMode {
    Data,
    Managed,
    Ephemeral,
    /// A query for objects that exist.
    List,
}

impl ResourceMode {
    /// The word before the type in an address, with its dot.
    pub fn prefix(self) -> &'static str {
        match self {
            ResourceMode::Managed => "",
            ResourceMode::Data => "data.",
            ResourceMode::Ephemeral => "ephemeral.",
            ResourceMode::List => "list.",
        }
    }

    /// The keyword of the block, and the value of "mode" in saved formats.
    pub fn keyword(self) -> &'static str {
        match self {
            ResourceMode::Managed => "resource",
            ResourceMode::Data => "data",
            ResourceMode::Ephemeral => "ephemeral",
            ResourceMode::List => "list",
        }
    }

    pub fn state_name(self) -> &'static str {
        match self {
            ResourceMode::Managed => "managed",
            ResourceMode::Data => "data",
            ResourceMode::Ephemeral => "ephemeral",
            ResourceMode::List => "list",
        }
    }
}
