//! Runs of the stub of HCP Terraform: configuration versions, plans, applies, logs and what comes between them.

use super::hcp::{Service, not_found};
use super::stub::{Answer, Call};

/// The runs of the service.
#[derive(Default)]
pub struct Runs {}

impl Service {
    pub fn take_slug(&mut self, _id: &str, _content: &[u8]) -> Answer {
        not_found()
    }

    pub fn log(&mut self, _id: &str, _call: &Call) -> Answer {
        not_found()
    }

    pub fn of_runs(&mut self, _call: &Call, _path: &[&str]) -> Answer {
        not_found()
    }

    pub fn runs_of_workspace(&mut self, _at: usize, _call: &Call, _path: &[&str]) -> Answer {
        not_found()
    }
}
