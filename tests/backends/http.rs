//! The `http` backend with a server that keeps states and locks in memory, and injects faults.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Outcome, Project, Running, program, reference, wait_until};

/// How the server answers the requests of one method instead of doing what it is asked.
#[derive(Clone, Debug)]
enum Mood {
    /// A status, so often.
    Status(u16, usize),
    /// The connection ends without an answer, so often.
    Reset(usize),
    /// Done, but the answer gets lost, so often.
    Lost(usize),
    Slow(Duration),
}

#[derive(Default)]
struct Memory {
    states: BTreeMap<String, Vec<u8>>,
    locks: BTreeMap<String, Vec<u8>>,
    moods: BTreeMap<String, Mood>,
    /// Method, path with query, headers and body of each request.
    asked: Vec<(String, String, String, Vec<u8>)>,
    login: Option<String>,
}

/// Runs until the test ends.
struct Server {
    port: u16,
    memory: Arc<Mutex<Memory>>,
}

impl Server {
    fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server { port: listener.local_addr().unwrap().port(), memory: Arc::default() };
        let memory = server.memory.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let memory = memory.clone();
                std::thread::spawn(move || while serve(&stream, &memory).is_some() {});
            }
        });
        server
    }

    fn with<T>(&self, work: impl FnOnce(&mut Memory) -> T) -> T {
        work(&mut self.memory.lock().unwrap())
    }

    fn mood(&self, method: &str, mood: Mood) {
        self.with(|memory| memory.moods.insert(method.into(), mood));
    }

    fn state(&self) -> Option<serde_json::Value> {
        self.with(|memory| memory.states.get("/state").map(|text| serde_json::from_slice(text).unwrap()))
    }

    fn is_locked(&self) -> bool {
        self.with(|memory| !memory.locks.is_empty())
    }

    fn asked(&self) -> Vec<String> {
        self.with(|memory| memory.asked.iter().map(|(method, path, ..)| format!("{method} {path}")).collect())
    }

    /// A `terraform` block with the backend; `more` are further settings.
    fn block(&self, more: &str) -> String {
        let place = format!("http://127.0.0.1:{}", self.port);
        format!(
            "terraform {{\n  backend \"http\" {{\n    address = \"{place}/state\"\n    lock_address = \"{place}/lock\"\n    \
             unlock_address = \"{place}/lock\"\n    retry_wait_min = 0\n    retry_wait_max = 0\n{more}  }}\n}}\n"
        )
    }
}

/// Reads one request and answers it; none: the connection is over.
fn serve(stream: &TcpStream, memory: &Mutex<Memory>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|n| *n > 0)?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let line = line.trim().to_owned();
        if let Some(text) = line.to_lowercase().strip_prefix("content-length: ") {
            length = text.parse().unwrap();
        }
        headers.push_str(&line);
        headers.push('\n');
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mood = mood_of(&mut memory.lock().unwrap(), &method);
    let (status, answer) = match mood {
        Some(Mood::Reset(_)) => return None,
        Some(Mood::Status(status, _)) => (status, Vec::new()),
        other => {
            if let Some(Mood::Slow(pause)) = other {
                std::thread::sleep(pause);
            }
            let answer = act(&mut memory.lock().unwrap(), &method, &path, &headers, body.clone());
            if matches!(other, Some(Mood::Lost(_))) {
                return None;
            }
            answer
        }
    };
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n", answer.len());
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&answer).ok()
}

/// The mood for a method; one that is counted ends.
fn mood_of(memory: &mut Memory, method: &str) -> Option<Mood> {
    let mood = memory.moods.get_mut(method)?;
    let now = mood.clone();
    match mood {
        Mood::Status(_, left) | Mood::Reset(left) | Mood::Lost(left) => {
            *left -= 1;
            if *left == 0 {
                memory.moods.remove(method);
            }
        }
        Mood::Slow(_) => {}
    }
    Some(now)
}

fn act(memory: &mut Memory, method: &str, path: &str, headers: &str, body: Vec<u8>) -> (u16, Vec<u8>) {
    let place = path.split('?').next().unwrap().to_owned();
    memory.asked.push((method.into(), path.into(), headers.into(), body.clone()));
    if let Some(login) = &memory.login
        && !headers.lines().any(|line| line == format!("authorization: {login}"))
    {
        return (if headers.contains("authorization") { 403 } else { 401 }, Vec::new());
    }
    match method {
        "GET" => memory.states.get(&place).map_or((404, Vec::new()), |state| (200, state.clone())),
        "POST" => {
            memory.states.insert(place, body);
            (200, Vec::new())
        }
        "LOCK" => match memory.locks.get(&place) {
            Some(holder) => (423, holder.clone()),
            None => {
                memory.locks.insert(place, body);
                (200, Vec::new())
            }
        },
        "UNLOCK" => {
            memory.locks.remove(&place);
            (200, Vec::new())
        }
        _ => (405, Vec::new()),
    }
}

const RESOURCE: &str =
    "resource \"terraform_data\" \"a\" {\n  input = \"one\"\n}\noutput \"o\" {\n  value = terraform_data.a.output\n}\n";

fn project(server: &Server, more: &str) -> Project {
    let project = Project::new(RESOURCE);
    project.write("work/backend.tf", &server.block(more));
    project
}

/// The journal of a run.
fn journal(project: &Project) -> Option<PathBuf> {
    let entries = std::fs::read_dir(project.path("work/.terraform/journals")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|extension| extension == "journal"))
}

/// A journal belongs to the state that it was begun for, also where settings of the environment decide which that is.
#[test]
fn a_journal_is_not_taken_for_that_of_another_state() {
    let server = Server::start();
    let mut project = Project::new("resource \"terraform_data\" \"a\" {}\n");
    project.write("work/backend.tf", "terraform {\n  backend \"http\" {}\n}\n");
    let url = |name: &str| format!("http://127.0.0.1:{}/{name}", server.port);
    project.set("TF_HTTP_ADDRESS", url("one"));
    project.set("TF_HTTP_RETRY_MAX", "0");
    project.ok(&["init"]);
    server.mood("POST", Mood::Status(500, 1));
    project.run(&["apply", "-auto-approve"]).expect(1, &["Failed to persist state to backend"]);
    assert!(journal(&project).is_some());
    // Neither state has anything in it yet.
    project.set("TF_HTTP_ADDRESS", url("two"));
    let other = project.run(&["apply", "-auto-approve"]);
    other.expect(0, &["An interrupted run left changes of another state", "1 added, 0 changed"]);
    project.set("TF_HTTP_ADDRESS", url("one"));
    let back = project.run(&["apply", "-auto-approve"]);
    back.expect(0, &["Changes of an interrupted run were recovered", "0 added, 0 changed"]);
    assert!(journal(&project).is_none());
}

/// Runs with an answer on standard input.
fn answered(project: &Project, args: &[&str], text: &str) -> Outcome {
    let file = project.write("answer", text);
    let mut command = project.command(program(), args);
    command.stdin(std::fs::File::open(file).unwrap());
    project.finish(command)
}

#[test]
fn a_state_lives_behind_an_address() {
    let server = Server::start();
    let project = project(&server, "");
    project.ok(&["init"]).expect(0, &["Successfully configured the backend \"http\"!"]);
    project.ok(&["apply", "-auto-approve"]);
    let state = server.state().unwrap();
    assert_eq!((&state["serial"], &state["outputs"]["o"]["value"]), (&1.into(), &"one".into()));
    assert!(!server.is_locked() && !project.exists("work/terraform.tfstate"));
    assert!(journal(&project).is_none());
    project.ok(&["plan", "-detailed-exitcode"]);
    project.run(&["workspace", "new", "x"]).expect(1, &["workspaces not supported"]);
    project.ok(&["destroy", "-auto-approve"]);
    assert_eq!(server.state().unwrap()["resources"].as_array().unwrap().len(), 0);
    let writes =
        server.with(|memory| memory.asked.iter().filter(|(method, ..)| method == "POST").cloned().collect::<Vec<_>>());
    let lock = server.with(|memory| memory.asked.iter().find(|(method, ..)| method == "LOCK").unwrap().3.clone());
    let lock: serde_json::Value = serde_json::from_slice(&lock).unwrap();
    assert_eq!(lock["Operation"], "OperationTypeApply");
    let (_, path, headers, _) = &writes[0];
    assert_eq!(path, &format!("/state?ID={}", lock["ID"].as_str().unwrap()));
    assert!(headers.contains("content-type: application/json\n") && headers.contains("content-md5: "), "{headers}");
}

#[test]
fn a_plan_without_changes_sends_few_requests() {
    let server = Server::start();
    let project = project(&server, "");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let before = server.asked().len();
    project.ok(&["plan"]);
    assert_eq!(server.asked()[before..], ["LOCK /lock", "GET /state", "UNLOCK /lock"]);
}

#[test]
fn logins_are_sent_and_never_shown() {
    let server = Server::start();
    server.with(|memory| memory.login = Some("Basic bWU6czNjcmV0".into()));
    let project = project(&server, "");
    project.run(&["init"]).expect(1, &["Error refreshing state: HTTP remote state endpoint requires auth"]);
    let mut project = self::project(&server, "    username = \"me\"\n");
    project.set("TF_HTTP_PASSWORD", "wrong");
    project.run(&["init"]).expect(1, &["Error refreshing state: HTTP remote state endpoint invalid auth"]);
    project.set("TF_HTTP_PASSWORD", "s3cret");
    project.set("TF_LOG", "TRACE");
    let shown = project.ok(&["init"]);
    let applied = project.ok(&["apply", "-auto-approve"]);
    assert!(!shown.text().contains("s3cret") && !applied.text().contains("s3cret") && !applied.text().contains("bWU6"));
    assert!(
        !project.read("work/.terraform/terraform.tfstate").contains("s3cret"),
        "what the environment gives is not recorded"
    );
}

#[test]
fn a_lock_is_waited_for_and_can_be_forced() {
    let server = Server::start();
    let project = project(&server, "");
    project.ok(&["init"]);
    let id = "2b6a6738-5dd5-50d6-c0ae-f6352977666b";
    let holder = format!(
        "{{\"ID\":\"{id}\",\"Operation\":\"OperationTypeApply\",\"Info\":\"\",\"Who\":\"user@host\",\"Version\":\"1.11.4\",\"Created\":\"2026-11-20T10:32:09.3Z\",\"Path\":\"\"}}"
    );
    server.with(|memory| memory.locks.insert("/lock".into(), holder.into_bytes()));
    let refused = format!("HTTP remote state already locked: ID={id}");
    project.run(&["plan"]).expect(1, &["Error acquiring the state lock", &refused, "Who: user@host"]);
    project.ok(&["plan", "-lock=false"]);
    let mut waiting = Running::start(project.command(program(), &["plan", "-lock-timeout=60s"]));
    waiting.until(|out| out.contains("Acquiring state lock."));
    project.ok(&["force-unlock", "-force", id]).expect(0, &["successfully unlocked!"]);
    assert_eq!(waiting.finish().code, Some(0));
    let forced = server.with(|memory| memory.asked.iter().find(|(method, ..)| method == "UNLOCK").unwrap().3.clone());
    assert!(String::from_utf8(forced).unwrap().contains(id));
}

#[test]
fn faults_are_retried_and_lose_nothing() {
    for (method, mood) in [
        ("GET", Mood::Status(500, 2)),
        ("GET", Mood::Reset(2)),
        ("LOCK", Mood::Status(429, 1)),
        ("LOCK", Mood::Lost(1)),
        ("POST", Mood::Status(503, 2)),
        ("POST", Mood::Lost(1)),
        ("UNLOCK", Mood::Reset(1)),
        ("POST", Mood::Slow(Duration::from_millis(300))),
    ] {
        let server = Server::start();
        let project = project(&server, "");
        project.ok(&["init"]);
        server.mood(method, mood.clone());
        project.ok(&["apply", "-auto-approve"]);
        assert!(!server.is_locked(), "{method} {mood:?}");
        assert_eq!(server.state().unwrap()["outputs"]["o"]["value"], "one", "{method} {mood:?}");
    }
}

#[test]
fn answers_that_are_no_success_are_errors() {
    for (method, status, text) in [
        ("GET", 418, "Unexpected HTTP response code 418"),
        ("LOCK", 404, "Unexpected HTTP response code 404"),
        ("LOCK", 401, "HTTP remote state endpoint requires auth"),
        ("LOCK", 409, "HTTP remote state already locked, failed to unmarshal body"),
        ("GET", 501, "Unexpected HTTP response code 501"),
    ] {
        let server = Server::start();
        let project = project(&server, "");
        project.ok(&["init"]);
        server.mood(method, Mood::Status(status, 1));
        project.run(&["plan"]).expect(1, &["Error acquiring the state lock", text]);
        assert!(!server.is_locked(), "{method} {status}");
    }
    let server = Server::start();
    let project = project(&server, "    retry_max = 1\n");
    server.mood("GET", Mood::Status(500, 9));
    let text = format!("Failed to get state: GET http://127.0.0.1:{}/state giving up after 2 attempt(s)", server.port);
    project.run(&["init"]).expect(1, &["Error refreshing state:", &text]);
}

#[test]
fn a_connection_lost_at_the_end_loses_nothing() {
    for push in [true, false] {
        let server = Server::start();
        let project = project(&server, "    retry_max = 0\n");
        project.ok(&["init"]);
        server.mood("POST", Mood::Reset(1));
        project.run(&["apply", "-auto-approve"]).expect(
            1,
            &["Failed to upload state: POST", "the journal of this run was kept", "state push errored.tfstate"],
        );
        assert!(project.exists("work/errored.tfstate") && server.state().is_none());
        assert!(journal(&project).is_some());
        match push {
            true => project.ok(&["state", "push", "errored.tfstate"]),
            false => project.ok(&["apply", "-auto-approve"]),
        };
        assert_eq!(server.state().unwrap()["outputs"]["o"]["value"], "one");
        assert!(journal(&project).is_none());
        project.ok(&["plan", "-detailed-exitcode"]);
    }
}

/// An object that leaves a line in a file for each time that it is created.
const COUNTED: &str = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"echo x >> created\"\n  }\n}\n";

/// After any fault: once the lock is free, the next run creates the object, and a plan has no changes.
fn check_next_run(server: &Server, project: &Project, case: &str) {
    server.with(|memory| memory.moods.clear());
    let lock = server.with(|memory| memory.locks.get("/lock").cloned());
    if let Some(lock) = lock {
        let lock: serde_json::Value = serde_json::from_slice(&lock).unwrap();
        project.ok(&["force-unlock", "-force", lock["ID"].as_str().unwrap()]);
    }
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(server.state().unwrap()["resources"].as_array().unwrap().len(), 1, "{case}");
    assert!(journal(project).is_none() && !server.is_locked(), "{case}");
    project.ok(&["plan", "-detailed-exitcode"]);
}

#[test]
fn a_fault_at_any_request_loses_nothing() {
    for method in ["LOCK", "GET", "POST", "UNLOCK"] {
        let statuses = [401, 404, 409, 429, 500, 503].map(|status| Mood::Status(status, 1));
        for mood in statuses.into_iter().chain([Mood::Reset(1), Mood::Lost(1)]) {
            let server = Server::start();
            let project = project(&server, "    retry_max = 0\n");
            project.write("work/main.tf", COUNTED);
            project.ok(&["init"]);
            server.mood(method, mood.clone());
            project.run(&["apply", "-auto-approve"]);
            check_next_run(&server, &project, &format!("{method} {mood:?}"));
            assert_eq!(project.read("work/created"), "x\n", "{method} {mood:?}: created once");
        }
    }
}

#[test]
fn a_kill_during_any_request_loses_nothing() {
    let mut killed = 0;
    for method in ["LOCK", "GET", "POST", "UNLOCK"] {
        for done in [false, true] {
            let server = Server::start();
            let project = project(&server, "");
            project.write("work/main.tf", COUNTED);
            project.ok(&["init"]);
            let asked = server.asked().len();
            server.mood(method, Mood::Slow(if done { Duration::ZERO } else { Duration::from_millis(400) }));
            let mut running = Running::start(project.command(program(), &["apply", "-auto-approve"]));
            // A slow request is seen when it is done, so the one before it is waited for.
            let before = match (method, done) {
                ("LOCK", false) => None,
                ("GET", false) => Some("LOCK"),
                ("POST", false) => Some("GET"),
                ("UNLOCK", false) => Some("POST"),
                _ => Some(method),
            };
            let seen =
                |wanted: &str| server.asked()[asked..].iter().any(|line| line.starts_with(&format!("{wanted} ")));
            if let Some(wanted) = before {
                wait_until(wanted, || seen(wanted));
            }
            if !done {
                std::thread::sleep(Duration::from_millis(100));
            }
            running.child.kill().unwrap();
            killed += usize::from(running.finish().is_killed());
            // What the killed run had sent arrives before anything else happens.
            std::thread::sleep(Duration::from_millis(500));
            check_next_run(&server, &project, &format!("{method} {done}"));
        }
    }
    assert!(killed >= 4, "only {killed} of 8 kills came before the end of the run");
}

const SLOW: &str = "resource \"terraform_data\" \"a\" {\n  input = \"one\"\n}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.output\n  provisioner \"local-exec\" {\n    command = \"touch started; sleep 60\"\n  }\n}\n";

/// A run that was killed while it created the second of two objects; its lock is still there.
fn killed(server: &Server) -> (Project, String) {
    let project = project(server, "");
    project.write("work/main.tf", SLOW);
    project.ok(&["init"]);
    let mut running = Running::start(project.command(program(), &["apply", "-auto-approve"]));
    wait_until("the second object is being created", || project.exists("work/started"));
    running.child.kill().unwrap();
    assert!(running.finish().is_killed());
    let lock = server.with(|memory| memory.locks.get("/lock").cloned()).unwrap();
    let lock: serde_json::Value = serde_json::from_slice(&lock).unwrap();
    (project, lock["ID"].as_str().unwrap().to_owned())
}

#[test]
fn a_killed_run_is_taken_up_by_the_next_one() {
    let server = Server::start();
    let (project, id) = killed(&server);
    assert!(std::fs::read_to_string(journal(&project).unwrap()).unwrap().contains("terraform_data.a"));
    project.run(&["plan"]).expect(1, &["already locked", &id]);
    project.ok(&["force-unlock", "-force", &id]);
    let found = project.ok(&["plan", "-no-color"]);
    found.expect(
        0,
        &["Changes of an interrupted run were recovered", "terraform_data.a", "terraform_data.b is tainted"],
    );
    let names = server.state().unwrap()["resources"].as_array().unwrap().len();
    assert_eq!(names, 2, "what was recorded was written under the lock");
    assert!(journal(&project).is_none());
}

#[test]
fn a_journal_is_not_replayed_over_the_work_of_others() {
    let server = Server::start();
    let (project, id) = killed(&server);
    project.ok(&["force-unlock", "-force", &id]);
    let other = "{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":7,\"lineage\":\"other\",\"outputs\":{},\"resources\":[]}";
    server.with(|memory| memory.states.insert("/state".into(), other.into()));
    project.run(&["plan"]).expect(1, &["State changed since an interrupted run", "terraform_data.a"]);
    assert_eq!(server.state().unwrap()["serial"], 7);
    assert!(journal(&project).is_some());
}

/// The message of a run whose state was refused says to push it; another directory or program may do that.
#[test]
fn a_journal_ends_when_its_state_was_pushed_by_others() {
    let mut programs = vec![program().to_owned()];
    programs.extend(reference());
    for other in programs {
        for next in [&["plan"][..], &["apply", "-auto-approve", "-lock=false"]] {
            let server = Server::start();
            let mut project = project(&server, "");
            project.set("TF_HTTP_RETRY_MAX", "0");
            project.ok(&["init"]);
            server.mood("POST", Mood::Status(500, 1));
            project.run(&["apply", "-auto-approve"]).expect(1, &["state push errored.tfstate"]);
            let second = Project::new(RESOURCE);
            second.write("work/backend.tf", &server.block(""));
            second.write("work/errored.tfstate", &project.read("work/errored.tfstate"));
            second.finish(second.command(&other, &["init"])).expect(0, &[]);
            second.finish(second.command(&other, &["state", "push", "errored.tfstate"])).expect(0, &[]);
            project.run(next).expect(0, &["No changes"]);
            assert!(journal(&project).is_none(), "{next:?}");
        }
    }
}

#[test]
fn saved_plans_carry_the_backend() {
    let server = Server::start();
    let project = project(&server, "");
    project.ok(&["init"]);
    project.ok(&["plan", "-out=p"]);
    project.ok(&["apply", "p"]);
    assert_eq!(server.state().unwrap()["serial"], 1);
    project.run(&["apply", "p"]).expect(1, &["Saved plan is stale"]);
}

#[test]
fn states_move_there_and_back() {
    let server = Server::start();
    let project = Project::new(RESOURCE);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let local: serde_json::Value = serde_json::from_str(&project.read("work/terraform.tfstate")).unwrap();
    project.write("work/backend.tf", &server.block(""));
    project.run(&["init", "-input=false"]).expect(1, &["Can't ask approval for state migration"]);
    answered(&project, &["init"], "yes\n").expect(0, &["Do you want to copy existing state to the new backend?"]);
    assert_eq!(server.state().unwrap(), local, "lineage and serial are kept");
    assert_eq!(project.read("work/terraform.tfstate"), "");
    assert!(!server.is_locked());
    std::fs::remove_file(project.path("work/backend.tf")).unwrap();
    project.run(&["plan"]).expect(1, &["Unsetting the previously set backend \"http\""]);
    answered(&project, &["init", "-migrate-state"], "yes\n").expect(0, &["Successfully unset the backend \"http\"."]);
    let back: serde_json::Value = serde_json::from_str(&project.read("work/terraform.tfstate")).unwrap();
    assert_eq!(back, local);
    project.ok(&["plan", "-detailed-exitcode"]);
}

#[test]
fn remote_states_are_read_over_http() {
    let server = Server::start();
    let project = project(&server, "");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let address = format!("http://127.0.0.1:{}/state", server.port);
    let reader = Project::new(&format!(
        "data \"terraform_remote_state\" \"x\" {{\n  backend = \"http\"\n  config = {{ address = \"{address}\" }}\n  defaults = {{ o = \"none\", p = \
         \"default\" }}\n}}\noutput \"all\" {{\n  value = data.terraform_remote_state.x.outputs\n}}\n"
    ));
    reader.ok(&["init"]);
    reader.ok(&["apply", "-auto-approve"]);
    let all = reader.ok(&["output", "-json", "all"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&all.out).unwrap(),
        serde_json::json!({"o": "one", "p": "default"})
    );
    let text = reader.read("work/main.tf").replace("defaults", "workspace = \"w\"\n  defaults");
    reader.write("work/main.tf", &text);
    reader
        .run(&["plan"])
        .expect(1, &["Error loading state error", "error loading the remote state: workspaces not supported"]);
}

/// Runs another program in the project.
fn run_with(project: &Project, program: &Path, args: &[&str]) -> Outcome {
    project.finish(project.command(program, args))
}

#[test]
fn the_reference_reads_and_locks_the_same() {
    let Some(other) = reference() else { return };
    let server = Server::start();
    let project = project(&server, "");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    run_with(&project, &other, &["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
    let main = project.read("work/main.tf").replace("\"one\"", "\"two\"");
    project.write("work/main.tf", &main);
    run_with(&project, &other, &["apply", "-auto-approve"]).expect(0, &["Apply complete!"]);
    assert_eq!(server.state().unwrap()["serial"], 2);
    project.ok(&["plan", "-detailed-exitcode"]);
    run_with(&project, &other, &["init"]).expect(0, &["successfully initialized!"]);
    project.ok(&["init", "-input=false"]);
    let (project, id) = killed(&server);
    let held = format!("HTTP remote state already locked: ID={id}");
    run_with(&project, &other, &["plan", "-no-color"]).expect(1, &[&held]);
    run_with(&project, &other, &["force-unlock", "-no-color", "-force", &id]).expect(0, &["successfully unlocked!"]);
    assert!(!server.is_locked());
}
