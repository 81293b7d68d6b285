//! Logging in to a host of our own and out again: what is shown, what the host hears, and what is kept.
//!
//! What is shown was recorded from the reference into `login_expected.txt`: `tests/record.sh` does it again.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use base64::Engine;
use sha2::{Digest, Sha256};

use super::normal;
use super::transcript::difference;
use crate::support::server::{Asked, Reply, Server};
use crate::support::{Outcome, Project, Running, program, reference};

const API: &str = r#"{"tfe.v2": "/api/v2/"}"#;
const OAUTH: &str = r#"{"login.v1": {"client": "cl", "authz": "/oauth/page?x=1", "token": "/oauth/token",
                        "ports": [20000, 40000], "scopes": ["a b", "c"]}}"#;
const USER: &str = r#"{"data": {"id": "user-1", "type": "users", "attributes": {"username": "alice"}}}"#;
const FILE: &str = "home/.terraform.d/credentials.tfrc.json";
/// Stores its input in files beside it.
const HELPER: &str = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nfor host; do :; done\nhost=${host%:*}\ncase $2 in\n\
                      get) if [ -e $host ]; then cat $host; else echo '{}'; fi;;\nstore) cat > $host;;\n\
                      forget) if [ -e $host ]; then rm $host; else echo 'nothing there' >&2; exit 1; fi;;\nesac\n";

struct Host {
    project: Project,
    server: Server,
    /// The document of its services, and what it answers to those who ask for a token or whose it is.
    says: Arc<Mutex<(String, Reply)>>,
}

impl Host {
    fn new() -> Host {
        let mut project = Project::new("");
        let says = Arc::new(Mutex::new((String::new(), Reply::status("404 Not Found"))));
        let handler = {
            let says = says.clone();
            move |asked: &Asked| {
                let says = says.lock().unwrap();
                Some(match asked.place() {
                    "/.well-known/terraform.json" => Reply::json(says.0.clone()),
                    "/api/v2/ping" => Reply::status("204 No Content"),
                    _ => says.1.clone(),
                })
            }
        };
        let server = Server::start(&mut project, handler);
        std::fs::create_dir_all(project.path("home/.terraform.d/plugins")).unwrap();
        let host = Host { project, server, says };
        host.no_browser();
        host
    }

    /// Only what a helper needs is found.
    fn no_browser(&self) {
        for name in ["sh", "cat", "dirname", "rm"] {
            let found = ["/usr/bin", "/bin"].map(|dir| Path::new(dir).join(name));
            let found = found.into_iter().find(|path| path.exists()).unwrap();
            std::fs::create_dir_all(self.project.path("bin")).unwrap();
            let _ = std::os::unix::fs::symlink(found, self.project.path("bin").join(name));
        }
    }

    fn say(&self, services: &str, reply: Reply) {
        *self.says.lock().unwrap() = (services.to_owned(), reply);
    }

    /// Runs a command, answering each question as it is asked; `browse` gets the page that it wants to open.
    fn play(&self, program: &Path, args: &[&str], answers: &[(&str, &str)], browse: Option<&dyn Fn(&str)>) -> Outcome {
        let host = self.server.host();
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "HOST" { host.as_str() } else { arg }).collect();
        let mut command = self.project.command(program, &args);
        command.env("PATH", self.project.path("bin")).stdin(Stdio::piped());
        let mut running = Running::start(command);
        let mut input = running.child.stdin.take().unwrap();
        for (question, answer) in answers {
            running.until(|screen| screen.contains(question) && screen.ends_with("Enter a value: "));
            input.write_all(format!("{answer}\n").as_bytes()).unwrap();
        }
        if let Some(browse) = browse {
            running.until(|screen| screen.contains("will now wait"));
            let (screen, _) = running.screen();
            browse(screen.split_whitespace().find(|word| word.contains("redirect_uri=")).unwrap());
        }
        drop(input);
        running.finish()
    }

    fn ours(&self, args: &[&str], answers: &[(&str, &str)]) -> Outcome {
        self.play(program(), args, answers, None)
    }
}

/// A field of an address, decoded.
fn field(address: &str, name: &str) -> String {
    let query = address.split_once('?').map_or(address, |(_, query)| query);
    let value = query.split('&').find_map(|field| field.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default();
    value.replace("%3A", ":").replace("%2F", "/").replace('+', " ")
}

/// What the login page of a host makes a browser do. Gives the answer.
fn call_back(page: &str, answer: &str) -> String {
    let address = field(page, "redirect_uri");
    let place = address.strip_prefix("http://localhost:").unwrap();
    let port: u16 = place.strip_suffix("/login").unwrap().parse().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let state = field(page, "state");
    let request = format!("GET /login?state={state}&{answer} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

/// A scene: its name, what the host says, the command, and the answers to its questions.
type Scene = (&'static str, &'static str, Reply, &'static [&'static str], &'static [(&'static str, &'static str)]);

const YES: (&str, &str) = ("Do you want to proceed?", "yes");
const TOKEN: (&str, &str) = ("Token for", "  s3cret  ");
const LOGIN: &[&str] = &["login", "-no-color", "HOST"];
const LOGOUT: &[&str] = &["logout", "-no-color", "HOST"];

fn scenes() -> Vec<Scene> {
    let nothing = || Reply::status("404 Not Found").body("{}");
    let user = || Reply::json(USER);
    let error = |status: &str, text: &str| Reply::status(status).with("Content-Type", "application/json").body(text);
    vec![
        ("the user does not confirm", API, nothing(), LOGIN, &[("Do you want to proceed?", "y")]),
        ("no answer", API, nothing(), LOGIN, &[]),
        ("no token is typed", API, user(), LOGIN, &[YES, ("Token for", "")]),
        ("input ends", API, user(), LOGIN, &[YES]),
        ("a token that the host does not know", API, error("401 Unauthorized", "{}"), LOGIN, &[YES, TOKEN]),
        (
            "a host that is not well",
            API,
            error("422 Unprocessable Entity", r#"{"errors": [{"title": "a", "detail": "b"}]}"#),
            LOGIN,
            &[YES, TOKEN],
        ),
        ("a host without that API", API, nothing(), LOGIN, &[YES, TOKEN]),
        ("a token is kept", API, user(), LOGIN, &[("Do you want to proceed?", "YES"), TOKEN]),
        ("and removed", API, nothing(), LOGOUT, &[]),
        ("nothing is left", API, nothing(), LOGOUT, &[]),
        ("a host without tokens", "{}", nothing(), LOGIN, &[]),
        ("another version", r#"{"login.v2": {}, "tfe.v3": "/"}"#, nothing(), LOGIN, &[]),
        (
            "an invalid method and a valid one",
            r#"{"login.v1": {}, "tfe.v2": "/api/v2/"}"#,
            user(),
            LOGIN,
            &[YES, TOKEN],
        ),
        (
            "no way that is known",
            r#"{"login.v1": {"client": "c", "token": "/t", "grant_types": ["password", "device_code"]}}"#,
            nothing(),
            LOGIN,
            &[],
        ),
        ("no name of a host", API, nothing(), &["login", "-no-color", "ex_ample.com"], &[]),
        ("no name of a host to leave", API, nothing(), &["logout", "-no-color", "xn--caf-dma.fr"], &[]),
        ("input is disabled", API, nothing(), &["login", "-no-color", "-input=false", "HOST"], &[]),
        ("the host is not reachable", API, nothing(), &["login", "-no-color", "127.0.0.1:1"], &[]),
    ]
}

/// One stream of a screen, the same wherever the host is. The reference leaves the port out of the page's address.
fn stream(host: &Host, text: &str, name: &str) -> String {
    let place = host.project.path("").canonicalize().unwrap();
    let text = text.replace(&format!("https://{}/app", host.server.host()), "https://127.0.0.1/app");
    // A product of that name is no program.
    let text = text.replace("Terraform Enterprise", "[product]");
    normal::screen(&text.replace(&host.server.host(), "HOST"), name, &place)
}

fn shown(host: &Host, outcome: &Outcome, name: &str) -> String {
    let err: String = stream(host, &outcome.err, name).trim_matches('\n').to_owned();
    let err = if err.is_empty() { String::new() } else { format!("--- error output\n{err}\n") };
    format!("{}{err}--- exit code {:?}\n", stream(host, &outcome.out, name), outcome.code)
}

/// All scenes, and the same host with a helper and with credentials of the user's own.
fn transcript(program: &Path, name: &str) -> String {
    let mut out = String::new();
    let host = Host::new();
    let mut add = |title: &str, outcome: &Outcome| out += &format!("### {title}\n{}", shown(&host, outcome, name));
    for (title, services, reply, args, answers) in scenes() {
        host.say(services, reply);
        add(title, &host.play(program, args, answers, None));
    }
    host.say(OAUTH, Reply::json(r#"{"access_token": "s3cret", "token_type": "bearer"}"#));
    add("by OAuth", &without_address(host.play(program, LOGIN, &[YES], Some(&|page| drop(call_back(page, "code=c"))))));
    let refused = Reply::status("400 Bad Request").with("Content-Type", "application/json");
    host.say(OAUTH, refused.body(r#"{"error": "invalid_grant", "error_description": "no way"}"#));
    add(
        "no token for a code",
        &without_address(host.play(program, LOGIN, &[YES], Some(&|page| drop(call_back(page, "code=c"))))),
    );
    std::fs::remove_file(host.project.path(FILE)).unwrap();
    host.project.write("home/.terraformrc", "credentials_helper \"h\" {\n  args = [\"-x\"]\n}\n");
    host.project.script("home/.terraform.d/plugins/terraform-credentials-h", HELPER);
    host.say(API, Reply::json(USER));
    add("a helper keeps it", &host.play(program, LOGIN, &[YES, TOKEN], None));
    add("a helper forgets it", &host.play(program, LOGOUT, &[], None));
    add("a helper fails", &host.play(program, LOGOUT, &[], None));
    let own = format!("credentials \"{}\" {{\n  token = \"x\"\n}}\n", host.server.host());
    host.project.write("home/.terraformrc", &own);
    add("credentials of their own", &host.play(program, LOGIN, &[], None));
    add("credentials of their own stay", &host.play(program, LOGOUT, &[], None));
    out
}

/// Without the address of the login page, which is another one each time.
fn without_address(mut outcome: Outcome) -> Outcome {
    let address = outcome.out.split_whitespace().find(|word| word.contains("redirect_uri=")).unwrap().to_owned();
    outcome.out = outcome.out.replace(&address, "[page]");
    outcome
}

#[test]
fn sessions_look_as_in_the_reference() {
    let expected = super::folder().join("login_expected.txt");
    if std::env::var_os("TERRANE_TEST_RECORD").is_some() {
        let reference = reference().expect("terraform is on the PATH");
        std::fs::write(&expected, transcript(&reference, "terraform")).unwrap();
        return;
    }
    let played = transcript(program(), "terrane");
    let recorded = std::fs::read_to_string(&expected).unwrap_or_default();
    assert!(played == recorded, "{}", difference(&recorded, &played));
}

#[test]
fn a_token_is_for_its_owner_and_its_host_alone() {
    use std::os::unix::fs::PermissionsExt;
    let host = Host::new();
    std::fs::remove_dir_all(host.project.path("home/.terraform.d")).unwrap();
    host.say(API, Reply::json(USER));
    let mut command = host.project.command(program(), &["login", &host.server.host()]);
    command.env("TF_LOG", "TRACE").env("PATH", host.project.path("bin"));
    let answers = host.project.write("answers", "yes\ns3cret\n");
    command.stdin(std::fs::File::open(answers).unwrap());
    let outcome = host.project.finish(command);
    outcome.expect(0, &["Retrieved token for user alice"]);
    assert!(!outcome.out.contains("s3cret") && !outcome.err.contains("s3cret"), "{}", outcome.err);
    assert!(outcome.err.contains("account/details"), "{}", outcome.err);
    let kept = format!(
        "{{\n  \"credentials\": {{\n    \"{}\": {{\n      \"token\": \"s3cret\"\n    }}\n  }}\n}}",
        host.server.host()
    );
    assert_eq!(host.project.read(FILE), kept);
    let mode = |path: &str| std::fs::metadata(host.project.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(FILE), mode("home/.terraform.d")), (0o600, 0o700));
    let heard = |path: &str| {
        let requests = host.server.requests();
        requests.iter().find(|asked| asked.place() == path).unwrap().header("authorization").to_owned()
    };
    assert_eq!(heard("/.well-known/terraform.json"), "");
    assert_eq!(heard("/api/v2/account/details"), "Bearer s3cret");
    // The next command shows it.
    host.server.forget();
    host.ours(LOGIN, &[("Do you want to proceed?", "no")]);
    assert_eq!(heard("/.well-known/terraform.json"), "Bearer s3cret");
}

#[test]
fn a_code_is_proved_to_be_ours() {
    let host = Host::new();
    host.say(OAUTH, Reply::json(r#"{"access_token": "s3cret", "token_type": "bearer"}"#));
    let challenge = Mutex::new(String::new());
    let browse = |page: &str| {
        *challenge.lock().unwrap() = field(page, "code_challenge");
        assert_eq!((field(page, "scope").as_str(), field(page, "x").as_str()), ("a b c", "1"));
        let stranger = page.replace("state=", "state=x");
        assert!(call_back(&stranger, "code=c").starts_with("HTTP/1.1 400 "));
        assert!(call_back(page, "nothing=x").starts_with("HTTP/1.1 400 "));
        assert!(call_back(page, "code=c0de").starts_with("HTTP/1.1 200 "));
    };
    let outcome = host.play(program(), LOGIN, &[YES], Some(&browse));
    outcome.expect(0, &["Terrane has obtained and saved an API token."]);
    assert!(host.project.read(FILE).contains("s3cret") && !outcome.out.contains("s3cret"));
    let requests = host.server.requests();
    let asked = requests.iter().find(|asked| asked.place() == "/oauth/token").unwrap();
    let body = String::from_utf8(asked.body.clone()).unwrap();
    assert_eq!((asked.method.as_str(), field(&body, "code").as_str()), ("POST", "c0de"));
    let digest = Sha256::digest(field(&body, "code_verifier").as_bytes());
    let proof = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(digest);
    assert_eq!(proof, *challenge.lock().unwrap());
}

#[test]
fn a_refused_login_shows_the_reason() {
    let host = Host::new();
    host.say(OAUTH, Reply::status("404 Not Found"));
    let browse = |page: &str| drop(call_back(page, "error=access_denied&error_description=not%20you"));
    let outcome = host.play(program(), LOGIN, &[YES], Some(&browse));
    outcome.expect(1, &["Failed to obtain auth token", "\"access_denied\" \"not you\""]);
    assert_eq!(host.server.count("/oauth/token"), 0);
}

#[test]
fn browsers_are_opened() {
    let host = Host::new();
    host.project.script("bin/xdg-open", "#!/bin/sh\nprintf '%s' \"$1\" > \"$HOME/page\"\n");
    host.say(API, Reply::json(USER));
    let outcome = host.ours(LOGIN, &[YES, TOKEN]);
    outcome.expect(0, &["Terrane must now open a web browser to the tokens page", "open the following URL to proceed"]);
    assert_eq!(host.project.read("home/page"), host.server.url("/app/settings/tokens?source=terraform-login"));
}

#[test]
fn an_interrupt_ends_a_login() {
    let host = Host::new();
    host.say(OAUTH, Reply::status("404 Not Found"));
    let mut command = host.project.command(program(), &["login", "-no-color", &host.server.host()]);
    command.env("PATH", host.project.path("bin"));
    let answers = host.project.write("answers", "yes\n");
    command.stdin(std::fs::File::open(answers).unwrap());
    let mut running = Running::start(command);
    running.until(|screen| screen.contains("will now wait"));
    // SAFETY: the call touches no memory.
    assert_eq!(unsafe { libc::kill(running.child.id() as i32, libc::SIGINT) }, 0);
    running.finish().expect(1, &["Error: interrupted"]);
    assert!(!host.project.exists(FILE));
}
