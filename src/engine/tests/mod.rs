//! The engine with a provider, a provisioner and a host of its own making: no process, no disk, no clock.

mod blocks;
mod consistency;
mod modules;
mod newer;
mod order;
mod paths;
mod world;
