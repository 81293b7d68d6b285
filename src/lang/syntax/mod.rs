//! Text to tree and back: always a tree plus a list of errors. Knows no values.
