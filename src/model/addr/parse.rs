//! Reading addresses: from traversals in configuration, from the command line, from state files.
