//! Marks: facts that travel with a value through every operation.
//!
//! Owns the set type only; what a mark means is decided by those who read it.

use std::ops::{BitOr, BitOrAssign};

/// A set of marks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Marks(u8);

impl Marks {
    pub const NONE: Marks = Marks(0);
    /// Must not be shown to people.
    pub const SENSITIVE: Marks = Marks(1);
    /// Must not be saved in a plan or a state.
    pub const EPHEMERAL: Marks = Marks(2);
    /// Comes from something that is deprecated.
    pub const DEPRECATED: Marks = Marks(4);
    /// Internal to the console: a type, not a value (the result of its `type` function).
    pub const TYPE_TEXT: Marks = Marks(8);

    /// These, if that is so; otherwise none.
    pub fn when(self, so: bool) -> Marks {
        if so { self } else { Marks::NONE }
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether every mark of `other` is here.
    pub fn contains(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn intersects(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub fn without(self, other: Marks) -> Marks {
        Marks(self.0 & !other.0)
    }
}

impl BitOr for Marks {
    type Output = Marks;
    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

impl BitOrAssign for Marks {
    fn bitor_assign(&mut self, other: Marks) {
        self.0 |= other.0;
    }
}

impl std::fmt::Debug for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = [
            (Marks::SENSITIVE, "sensitive"),
            (Marks::EPHEMERAL, "ephemeral"),
            (Marks::DEPRECATED, "deprecated"),
            (Marks::TYPE_TEXT, "type"),
        ];
        let present: Vec<&str> = names.iter().filter(|(m, _)| self.contains(*m)).map(|(_, n)| *n).collect();
        write!(f, "Marks({})", present.join("|"))
    }
}
