//! The program with its states elsewhere: each backend against a server.

mod clouds;
mod http;
