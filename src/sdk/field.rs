//! Values of attributes that may be null or unknown.

/// A value as configurations and plans have it: absent, not known yet, or known.
///
/// ```
/// use terrane_sdk::Field;
/// let title: Field<String> = Field::known("Buy milk");
/// assert_eq!(title.value().map(String::as_str), Some("Buy milk"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// Not set.
    #[default]
    Null,
    /// Known only after apply.
    Unknown,
    /// Set, and known.
    Known(T),
}

impl<T> Field<T> {
    /// A known value.
    ///
    /// ```
    /// # use terrane_sdk::Field;
    /// assert_eq!(Field::<i64>::known(3), Field::Known(3));
    /// ```
    pub fn known(value: impl Into<T>) -> Field<T> {
        Field::Known(value.into())
    }

    /// True if it is not set.
    ///
    /// ```
    /// # use terrane_sdk::Field;
    /// assert!(Field::<i64>::Null.is_null());
    /// ```
    pub fn is_null(&self) -> bool {
        matches!(self, Field::Null)
    }

    /// True if it is known only after apply.
    ///
    /// ```
    /// # use terrane_sdk::Field;
    /// assert!(Field::<i64>::Unknown.is_unknown());
    /// ```
    pub fn is_unknown(&self) -> bool {
        matches!(self, Field::Unknown)
    }

    /// The known value; none if it is null or unknown.
    ///
    /// ```
    /// # use terrane_sdk::Field;
    /// assert_eq!(Field::Known(3).value(), Some(&3));
    /// assert_eq!(Field::<i64>::Null.value(), None);
    /// ```
    pub fn value(&self) -> Option<&T> {
        match self {
            Field::Known(value) => Some(value),
            Field::Null | Field::Unknown => None,
        }
    }

    /// As [`Field::value`], by value.
    ///
    /// ```
    /// # use terrane_sdk::Field;
    /// assert_eq!(Field::Known(3).into_option(), Some(3));
    /// ```
    pub fn into_option(self) -> Option<T> {
        match self {
            Field::Known(value) => Some(value),
            Field::Null | Field::Unknown => None,
        }
    }

    /// The same with a known value changed.
    ///
    /// ```
    /// # use terrane_sdk::Field;
    /// assert_eq!(Field::Known(3).map(|n| n + 1), Field::Known(4));
    /// ```
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Field<U> {
        match self {
            Field::Null => Field::Null,
            Field::Unknown => Field::Unknown,
            Field::Known(value) => Field::Known(change(value)),
        }
    }
}

/// None becomes null.
impl<T> From<Option<T>> for Field<T> {
    fn from(value: Option<T>) -> Field<T> {
        value.map_or(Field::Null, Field::Known)
    }
}
