//! An API server of a Kubernetes cluster, as far as states need one: secrets and leases with versions and labels.
//!
//! Stands alone with the stub server: the library's own tests use this file too.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::stub::{Answer, Call, Stub};

/// The most that one object may have.
const LIMIT: usize = 3 * 512 * 1024;

pub struct KubernetesStub {
    pub stub: Stub,
    cluster: Arc<Mutex<Cluster>>,
}

#[derive(Default)]
struct Cluster {
    version: u64,
    /// By `namespaces/x/secrets/name`.
    objects: BTreeMap<String, Value>,
    /// What requests must show, if anything.
    authorization: Option<String>,
}

impl KubernetesStub {
    pub fn start() -> KubernetesStub {
        let cluster = Arc::new(Mutex::new(Cluster::default()));
        let serving = cluster.clone();
        KubernetesStub { stub: Stub::start(move |call| serving.lock().unwrap().answer(call)), cluster }
    }

    /// From now on, only requests with this header are answered.
    pub fn require(&self, authorization: &str) {
        self.cluster.lock().unwrap().authorization = Some(authorization.to_owned());
    }

    /// `namespaces/default/secrets/tfstate-default-x`, for example, sorted.
    pub fn names(&self) -> Vec<String> {
        self.cluster.lock().unwrap().objects.keys().cloned().collect()
    }

    pub fn object(&self, name: &str) -> Option<Value> {
        self.cluster.lock().unwrap().objects.get(name).cloned()
    }

    /// Changes an object behind everybody's back.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut cluster = self.cluster.lock().unwrap();
        cluster.version += 1;
        let version = cluster.version.to_string();
        let object = cluster.objects.get_mut(name).unwrap();
        change(object);
        object["metadata"]["resourceVersion"] = json!(version);
    }
}

fn status(code: u16, reason: &str, message: String) -> Answer {
    let status = json!({ "kind": "Status", "status": "Failure", "reason": reason, "message": message, "code": code });
    Answer::new(code, status.to_string())
}

impl Cluster {
    fn answer(&mut self, call: &Call) -> Answer {
        let shown = call.headers.get("authorization");
        if self.authorization.is_some() && self.authorization.as_ref() != shown {
            return status(401, "Unauthorized", "Unauthorized".into());
        }
        let path =
            call.path.strip_prefix("/api/v1/").or_else(|| call.path.strip_prefix("/apis/coordination.k8s.io/v1/"));
        let Some(path) = path else { return status(404, "NotFound", "the server could not find the resource".into()) };
        let is_list = path.split('/').count() == 3;
        match (call.method.as_str(), is_list) {
            ("GET", true) => self.list(call, path),
            ("POST", true) => self.create(call, path),
            ("GET", false) => match self.objects.get(path) {
                Some(object) => Answer::new(200, object.to_string()),
                None => not_found(path),
            },
            ("PUT", false) => self.replace(call, path),
            ("DELETE", false) => match self.objects.remove(path) {
                Some(_) => Answer::new(200, json!({ "kind": "Status", "status": "Success" }).to_string()),
                None => not_found(path),
            },
            _ => status(405, "MethodNotAllowed", "not allowed".into()),
        }
    }

    fn list(&self, call: &Call, path: &str) -> Answer {
        let selector = call.parameter("labelSelector").unwrap_or_default();
        let wanted: Vec<(&str, &str)> = selector.split(',').filter_map(|pair| pair.split_once('=')).collect();
        let of_kind = self.objects.iter().filter(|(name, _)| name.starts_with(&format!("{path}/")));
        let fits = |object: &&Value| wanted.iter().all(|(key, value)| object["metadata"]["labels"][*key] == **value);
        let mut items: Vec<Value> = of_kind.map(|(_, object)| object).filter(fits).cloned().collect();
        if call.headers.get("accept").is_some_and(|accept| accept.contains("PartialObjectMetadataList")) {
            for item in &mut items {
                *item = json!({ "metadata": item["metadata"] });
            }
        }
        // Lists have items without kinds.
        Answer::new(200, json!({ "kind": "List", "metadata": {}, "items": items }).to_string())
    }

    fn create(&mut self, call: &Call, path: &str) -> Answer {
        let mut object: Value = serde_json::from_slice(&call.body).unwrap();
        let name = format!("{path}/{}", object["metadata"]["name"].as_str().unwrap_or_default());
        if self.objects.contains_key(&name) {
            return status(409, "AlreadyExists", format!("{name:?} already exists"));
        }
        if let Some(refusal) = refused(&object, call) {
            return refusal;
        }
        self.version += 1;
        complete(&mut object, path);
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        object["metadata"]["uid"] = json!(format!("uid-{}", self.version));
        self.objects.insert(name, object.clone());
        Answer::new(201, object.to_string())
    }

    fn replace(&mut self, call: &Call, path: &str) -> Answer {
        let mut object: Value = serde_json::from_slice(&call.body).unwrap();
        let Some(old) = self.objects.get(path) else { return not_found(path) };
        let version = &object["metadata"]["resourceVersion"];
        if !version.is_null() && *version != old["metadata"]["resourceVersion"] {
            let message = format!("Operation cannot be fulfilled on {path:?}: the object has been modified");
            return status(409, "Conflict", message);
        }
        if let Some(refusal) = refused(&object, call) {
            return refusal;
        }
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        object["metadata"]["uid"] = old["metadata"]["uid"].clone();
        complete(&mut object, path);
        self.objects.insert(path.to_owned(), object.clone());
        Answer::new(200, object.to_string())
    }
}

/// What an object is, which clients may leave out.
fn complete(object: &mut Value, path: &str) {
    let is_lease = path.contains("/leases");
    object["kind"] = json!(if is_lease { "Lease" } else { "Secret" });
    object["apiVersion"] = json!(if is_lease { "coordination.k8s.io/v1" } else { "v1" });
}

fn not_found(path: &str) -> Answer {
    status(404, "NotFound", format!("{path:?} not found"))
}

fn refused(object: &Value, call: &Call) -> Option<Answer> {
    let data = object["data"].as_object();
    let sizes = data
        .into_iter()
        .flat_map(|data| data.values())
        .map(|text| STANDARD.decode(text.as_str().unwrap()).unwrap().len());
    if sizes.sum::<usize>() > 1024 * 1024 || call.body.len() > LIMIT {
        return Some(status(
            422,
            "Invalid",
            "Secret is invalid: data: Too long: must have at most 1048576 bytes".into(),
        ));
    }
    None
}
