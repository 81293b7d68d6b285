//! Model values to text or JSON; pure: width and colour come in as values.
