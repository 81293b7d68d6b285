//! State files: version 4 and the upgrade of older ones.
