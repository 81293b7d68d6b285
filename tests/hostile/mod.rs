//! Invalid or hostile input: text from other programs and users must neither crash the program nor take memory
//! out of proportion.
//!
//! Each test starts from sound documents and changes them at random. By default it tries few, always the same.
//! `TERRANE_TEST_FUZZ_INPUTS` is the number of inputs per test, `TERRANE_TEST_FUZZ_SEED` where the numbers begin, so that
//! long runs can go on where others ended. With either, the input that is being tried is kept in the temporary folder,
//! named in the output: it is still there if the process aborts.

pub mod allocation;
mod answers;
mod documents;
mod harness;
mod mutation;
mod packages;
mod requests;
mod reviews;
mod seeds;
