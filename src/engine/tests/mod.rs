//! Tests of the engine with a mocked provider, provisioner and host: no process, no disk, no clock.

mod actions;
mod acts;
mod blocks;
mod conditions;
mod consistency;
mod deferral;
mod drift;
mod ephemerals;
mod import_command;
mod imports;
mod instances;
mod interrupted;
mod lister;
mod lists;
mod modules;
mod moves;
mod newer;
mod note;
mod order;
mod paths;
mod provider_configs;
mod refresh_only;
mod schedule;
mod schedules;
mod sink;
mod waiting;
pub(super) mod world;
