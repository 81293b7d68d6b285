//! Positions in the tables of a run, with a type for each table, so that the position in one cannot be used for another.
//!
//! Each takes four bytes: a graph has many more edges than nodes.

/// Declares a position in a table.
macro_rules! position {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            pub const fn new(index: usize) -> $name {
                $name(index as u32)
            }

            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

/// Declares the position of a block: its module, and its place among the blocks of its kind there.
macro_rules! block {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            pub module: ModuleId,
            index: u32,
        }

        impl $name {
            pub const fn new(module: ModuleId, index: usize) -> $name {
                $name { module, index: index as u32 }
            }

            /// The place among the blocks of its kind in its module.
            pub const fn index(self) -> usize {
                self.index as usize
            }
        }
    };
}

position! {
    /// A node of a graph.
    NodeId
}
position! {
    /// A module of the configuration; parents before children, the root is the first.
    ModuleId
}
position! {
    /// A provider configuration that a run uses.
    ProviderId
}
position! {
    /// A planned change that apply carries out.
    TaskId
}
position! {
    /// The orphaned objects of a resource.
    OrphansId
}
position! {
    /// An action that was asked for.
    RequestId
}
position! {
    /// An import that writes its configuration.
    GeneratedId
}
block! {
    /// A resource block.
    ResourceId
}
block! {
    /// An action block.
    ActionId
}

/// The root module.
pub const ROOT: ModuleId = ModuleId::new(0);

impl NodeId {
    /// The node that is reported before all others.
    pub const FIRST: NodeId = NodeId(0);
    /// After all nodes, for what is reported last.
    pub const AFTER_ALL: NodeId = NodeId(u32::MAX);

    /// The node some places further on.
    pub const fn plus(self, count: usize) -> NodeId {
        NodeId::new(self.index() + count)
    }
}
