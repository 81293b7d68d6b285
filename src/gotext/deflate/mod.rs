//! DEFLATE (RFC 1951) and gzip (RFC 1952) with the exact output of Go's standard library.
//!
//! Providers store hashes of compressed data, and users compare them. Another compressor makes other bytes from the
//! same input, so that every archive would look changed. The output depends on the search for matches (`matcher`), on
//! the sizes of the blocks and the choice of their encoding (`block`), and on how ties between code lengths are broken
//! (`huffman`).
//!
//! It also depends on the sizes of the writes, in rare cases: the window moves when it is nearly full at the end of a
//! write. Callers that need the same bytes as a Go program write in the same portions.
//!
//! Observed on Go 1.26, `compress/flate` and `compress/gzip`.
//!
//! Never knows archives or files.

mod bits;
mod block;
mod gzip;
mod huffman;
mod matcher;
mod symbol;
#[cfg(test)]
mod tests;
mod writer;

pub use gzip::{Gzip, gzip};
pub use matcher::Level;
pub use writer::Deflate;
