//! Where providers come from: registries, mirrors and folders, all on this machine, and what may go wrong on the way.

mod authenticity;
mod broken;
mod cache;
mod containers;
mod credentials;
mod demands;
mod faults;
mod killed;
mod locks;
mod mirrored;
mod mirrors;
mod registries;
mod speed;
mod stage;
