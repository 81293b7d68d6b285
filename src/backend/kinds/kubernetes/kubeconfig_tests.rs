//! Which cluster and which credentials settings and kubeconfig files give.

use super::*;

const MAIN: &str = "\
apiVersion: v1
kind: Config
current-context: a
clusters:
- name: one
  cluster:
    server: https://one:6443
    certificate-authority-data: Q0E=
    insecure-skip-tls-verify: true
    proxy-url: http://proxy:1
- name: plain
  cluster: {server: \"http://plain:8080\"}
contexts:
- name: a
  context: {cluster: one, user: me}
- name: b
  context: {cluster: plain, user: me}
- name: broken
  context: {cluster: nowhere, user: me}
users:
- name: me
  user:
    token: s3cret
    client-certificate: me.crt
    client-key-data: S0VZ
- name: helper
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/login
      args: null
      env: [{name: A, value: b}]
      interactiveMode: Never
";
const OTHER: &str = "current-context: b\ncontexts:\n- {name: a, context: {cluster: plain, user: me}}\nusers:\n- {name: new, user: {username: u, password: p}}\n";

fn files() -> (tempfile::TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let paths = vec![dir.path().join("missing"), write("main", MAIN), write("other", OTHER)];
    write("me.crt", "CERTIFICATE");
    (dir, paths)
}

fn choice(context: &str, user: &str, cluster: &str) -> Choice {
    let set = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Choice { context: set(context), user: set(user), cluster: set(cluster) }
}

#[test]
fn contexts_name_server_and_user() {
    let (_dir, paths) = files();
    let config = KubeConfig::read(&paths).unwrap().unwrap();
    let access = config.access(&Choice::default()).unwrap();
    assert_eq!((access.server.as_str(), access.authorities.as_deref()), ("https://one:6443", Some("CA")));
    assert_eq!(access.token.unwrap().reveal(), "s3cret");
    assert_eq!((access.certificate.as_deref(), access.key.unwrap().reveal()), (Some("CERTIFICATE"), "KEY"));
    assert_eq!(access.proxy.as_deref(), Some("http://proxy:1"));
    assert!(!access.insecure, "observed: the file does not turn verification off");
    let access = config.access(&choice("", "new", "")).unwrap();
    assert_eq!((access.login.unwrap().0.as_str(), access.token.is_none()), ("u", true));
    let access = config.access(&choice("b", "", "one")).unwrap();
    assert_eq!(access.server, "https://one:6443");
}

#[test]
fn credentials_are_not_sent_in_the_clear() {
    let (_dir, paths) = files();
    let access = KubeConfig::read(&paths).unwrap().unwrap().access(&choice("b", "", "")).unwrap();
    assert!(access.server == "http://plain:8080" && access.token.is_none() && access.certificate.is_none());
}

#[test]
fn programs_are_found_beside_the_file() {
    let (dir, paths) = files();
    let exec = KubeConfig::read(&paths).unwrap().unwrap().access(&choice("", "helper", "")).unwrap().exec.unwrap();
    assert_eq!(exec.command, dir.path().join("bin/login").to_str().unwrap());
    assert!(exec.env == [ExecVariable { name: "A".into(), value: "b".into() }]);
}

#[test]
fn errors_name_what_is_missing_and_no_secret() {
    let (dir, paths) = files();
    let config = KubeConfig::read(&paths).unwrap().unwrap();
    let error = |choice: Choice| config.access(&choice).err().unwrap().text;
    assert_eq!(error(choice("x", "", "")), "context \"x\" does not exist");
    assert_eq!(error(choice("", "x", "")), "auth info \"x\" does not exist");
    assert_eq!(error(choice("broken", "", "")), "cluster \"nowhere\" does not exist");
    let bad = dir.path().join("bad");
    std::fs::write(&bad, "users:\n- name: x\n  user: {token: [s3cret]}\n").unwrap();
    let error = KubeConfig::read(std::slice::from_ref(&bad)).err().unwrap().text;
    assert_eq!(error, format!("error loading config file {bad:?}: not a kubeconfig file"));
    assert!(KubeConfig::read(&[dir.path().join("missing")]).unwrap().is_none());
}

#[test]
fn pods_know_their_cluster() {
    let error = in_cluster(&Environment::default()).err().unwrap().text;
    assert!(error.starts_with("unable to load in-cluster configuration"), "{error}");
}
