//! States in the stores of large clouds, with the real program: every step of a state's life, together with the reference where it is there, and everything
//! that can go wrong on the way to the server.

pub mod azurerm;
pub mod gcs;
pub mod life;
pub mod s3;

use crate::support::Project;
use crate::support::clouds::Server;
use crate::support::faulty::Way;
use crate::support::proxy::Proxy;

/// A kind of store for the tests that are the same for all.
pub struct Store {
    pub server: Server,
    pub way: Way,
    /// The block `backend`, for a state of this name; `port` is where the server is asked: its own, or that of the way to it.
    pub block: fn(port: u16, name: &str) -> String,
    /// Where the server goes by a name of its own, over TLS.
    pub front: Option<Front>,
}

/// What leads to the way to a server that goes by a name of its own.
pub struct Front {
    pub authority: String,
    pub proxy: Proxy,
}

impl Store {
    /// A project that trusts the server and finds it.
    pub fn project(&self, text: &str) -> Project {
        let mut project = Project::new(text);
        if let Some(front) = &self.front {
            front.use_in(&mut project);
        }
        project
    }
}

impl Front {
    pub fn use_in(&self, project: &mut Project) {
        let authority = project.write("authority.pem", &self.authority);
        project.set("SSL_CERT_FILE", authority);
        project.set("HTTPS_PROXY", format!("http://127.0.0.1:{}", self.proxy.port));
    }
}
