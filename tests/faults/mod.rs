//! What goes wrong around the program: providers that misbehave, locks, full disks, broken files and configurations.
//! Each ends in a diagnostic with place and remedy, exit code 1, and nothing lost or left running.

mod bad_input;
mod disk;
mod locks;
mod module_tests;
mod provider;
mod providers;
mod schemas;
