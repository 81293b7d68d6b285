//! Every kind of place for states that runs here, for the tests that are the same for all of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::clouds::{Front, Store, azurerm, gcs, s3};
use crate::support::Project;
use crate::support::consul::ConsulStub;
use crate::support::cos::{self, CosStub};
use crate::support::faulty::Way;
use crate::support::kubernetes::KubernetesStub;
use crate::support::oci::{self, OciStub};
use crate::support::oss::{ACCESS_KEY, BUCKET, OssStub, SECRET_KEY, TABLE};
use crate::support::postgres::Postgres;
use crate::support::proxy::Proxy;
use crate::support::relay::Relay;
use crate::support::stub::{Answer, Call, Stub};

/// A server that runs until this is dropped.
pub struct Place {
    /// Writes the block `backend` for a state of a name, and what belongs to it, into a project.
    configure: Box<dyn Fn(&mut Project, &str)>,
    /// The way to the server; none where it speaks something else than HTTP.
    pub way: Option<Way>,
    /// The way to a server that speaks something else.
    pub relay: Option<Relay>,
    /// Locks whose owner died end, as far as time would end them.
    pub pass_time: Box<dyn Fn()>,
}

impl Place {
    fn new(way: Option<Way>, configure: impl Fn(&mut Project, &str) + 'static) -> Place {
        Place { configure: Box::new(configure), way, relay: None, pass_time: Box::new(|| {}) }
    }

    /// A project with a state of its own.
    pub fn project(&self, name: &str, body: &str) -> Project {
        let mut project = Project::new(body);
        (self.configure)(&mut project, name);
        project
    }

    /// Writes the block `backend` for a state of a name into a project.
    pub fn configure(&self, project: &mut Project, name: &str) {
        (self.configure)(project, name);
    }

    fn of_store(store: Store) -> Place {
        let Store { server, way, block, front } = store;
        let port = way.port;
        Place::new(Some(way), move |project, name| {
            // The server belongs to the place.
            let _ = &server;
            if let Some(front) = &front {
                front.use_in(project);
            }
            project.write("work/backend.tf", &format!("terraform {{\n  {}\n}}\n", block(port, name)));
        })
    }
}

fn block(text: &str) -> String {
    format!("terraform {{\n  backend {text}\n}}\n")
}

pub fn s3() -> Option<Place> {
    s3::with_file().map(Place::of_store)
}

pub fn s3_with_a_table() -> Option<Place> {
    s3::with_table().map(Place::of_store)
}

pub fn gcs() -> Option<Place> {
    gcs::store().map(Place::of_store)
}

pub fn azurerm() -> Option<Place> {
    azurerm::store().map(Place::of_store)
}

pub fn pg() -> Option<Place> {
    let server = Postgres::shared()?;
    let database = server.database();
    let relay = Relay::start(server.port, Duration::ZERO);
    let port = relay.port;
    let configure = move |project: &mut Project, name: &str| {
        let schema = name.replace('-', "_");
        let address = server.address(&database).replace(&format!(":{}/", server.port), &format!(":{port}/"));
        let text = format!("\"pg\" {{\n    conn_str    = \"{address}\"\n    schema_name = \"{schema}\"\n  }}");
        project.write("work/backend.tf", &block(&text));
    };
    Some(Place { relay: Some(relay), ..Place::new(None, configure) })
}

pub fn http() -> Place {
    let memory: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::default();
    let stub = Stub::start(move |call| keep(&mut memory.lock().unwrap(), call));
    let way = Way::to(stub.port);
    let url = format!("http://127.0.0.1:{}", way.port);
    Place::new(Some(way), move |project, name| {
        let text = format!(
            "\"http\" {{\n    address        = \"{url}/states/{name}\"\n    lock_address   = \"{url}/locks/{name}\"\n    \
             unlock_address = \"{url}/locks/{name}\"\n  }}"
        );
        project.write("work/backend.tf", &block(&text));
    })
}

/// A server of states and locks.
fn keep(memory: &mut BTreeMap<String, Vec<u8>>, call: &Call) -> Answer {
    let held = memory.get(&call.path).cloned();
    match (&*call.method, held) {
        ("GET", None) => Answer::new(404, ""),
        ("GET", Some(state)) => Answer::new(200, state),
        ("LOCK", Some(holder)) => Answer::new(423, holder),
        ("POST" | "LOCK", _) => {
            memory.insert(call.path.clone(), call.body.clone());
            Answer::new(200, "")
        }
        ("UNLOCK", None) => Answer::new(409, ""),
        ("DELETE" | "UNLOCK", _) => {
            memory.remove(&call.path);
            Answer::new(200, "")
        }
        _ => Answer::new(405, ""),
    }
}

pub fn consul() -> Place {
    let stub = Arc::new(ConsulStub::start());
    let way = Way::to(stub.stub.port);
    let address = format!("127.0.0.1:{}", way.port);
    let place = Place::new(Some(way), move |project, name| {
        let text = format!("\"consul\" {{\n    address = \"{address}\"\n    path    = \"states/{name}\"\n  }}");
        project.write("work/backend.tf", &block(&text));
    });
    let pass_time = move || {
        stub.expire_sessions();
        stub.end_delays();
    };
    Place { pass_time: Box::new(pass_time), ..place }
}

pub fn kubernetes() -> Place {
    let stub = KubernetesStub::start();
    let way = Way::to(stub.stub.port);
    let url = format!("http://127.0.0.1:{}", way.port);
    Place::new(Some(way), move |project, name| {
        let _ = &stub;
        let text =
            format!("\"kubernetes\" {{\n    secret_suffix = \"{name}\"\n    config_path   = \"kubeconfig\"\n  }}");
        project.write("work/backend.tf", &block(&text));
        project.write("work/kubeconfig", &format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: k, user: u}}\nclusters:\n- name: k\n  cluster:\n    server: {url}\nusers:\n- name: u\n  user: {{token: t}}\n"
        ));
    })
}

pub fn oci() -> Place {
    let stub = OciStub::start();
    let way = Way::to(stub.stub.port);
    let address = format!("{}=http://127.0.0.1:{}", oci::SERVICE, way.port);
    Place::new(Some(way), move |project, name| {
        let text = format!(
            "\"oci\" {{\n    bucket               = \"{}\"\n    namespace            = \"{}\"\n    key                  = \"{name}\"\n    \
             workspace_key_prefix = \"more/{name}\"\n  }}",
            oci::BUCKET,
            oci::NAMESPACE
        );
        project.write("work/backend.tf", &block(&text));
        stub.configure(&mut |name, value| project.set(name, value));
        project.set("CLIENT_HOST_OVERRIDES", &address);
    })
}

pub fn oss() -> Place {
    let stub = OssStub::start();
    let way = Way::to(stub.stub.port);
    let url = format!("http://127.0.0.1:{}", way.port);
    Place::new(Some(way), move |project, name| {
        let _ = &stub;
        let text = format!(
            "\"oss\" {{\n    bucket              = \"{BUCKET}\"\n    prefix              = \"{name}\"\n    endpoint            = \"{url}\"\n    \
             tablestore_endpoint = \"{url}\"\n    tablestore_table    = \"{TABLE}\"\n  }}"
        );
        project.write("work/backend.tf", &block(&text));
        project.set("ALICLOUD_ACCESS_KEY", ACCESS_KEY);
        project.set("ALICLOUD_SECRET_KEY", SECRET_KEY);
    })
}

pub fn cos() -> Place {
    let stub = CosStub::start();
    let (way, authority) = Way::secure(stub.stub.port);
    let front = Front { authority, proxy: Proxy::start(way.port) };
    Place::new(Some(way), move |project, name| {
        let _ = &stub;
        front.use_in(project);
        project.write("work/backend.tf", &block(&cos_block(name)));
    })
}

/// The block for states below a prefix.
pub fn cos_block(prefix: &str) -> String {
    format!(
        "\"cos\" {{\n    bucket     = \"{}\"\n    region     = \"ap-test\"\n    prefix     = \"{prefix}\"\n    \
         secret_id  = \"{}\"\n    secret_key = \"{}\"\n  }}",
        cos::BUCKET,
        cos::SECRET_ID,
        cos::SECRET_KEY
    )
}
