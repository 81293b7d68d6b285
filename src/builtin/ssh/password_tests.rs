//! Passwords and lost commands, against a small server in this process.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use russh::keys::PrivateKey;
use russh::keys::ssh_key::private::Ed25519Keypair;
use russh::server::{self, Auth, ChannelOpenHandle, Msg, Response, Session};
use russh::{Channel, ChannelId, MethodKind, MethodSet};

use super::settings::Settings;
use super::{Communicator, SshError};

/// Accepts the password "right" in one way, and runs two commands.
struct Server {
    way: MethodKind,
}

fn verdict(right: bool) -> Auth {
    if right { Auth::Accept } else { Auth::Reject { proceed_with_methods: None, partial_success: false } }
}

impl server::Handler for Server {
    type Error = russh::Error;

    async fn auth_password(&mut self, _user: &str, password: &str) -> Result<Auth, russh::Error> {
        Ok(verdict(self.way == MethodKind::Password && password == "right"))
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        _user: &str,
        _submethods: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, russh::Error> {
        let prompts: Vec<(Cow<'static, str>, bool)> = vec![("Password: ".into(), false), ("Again: ".into(), false)];
        Ok(match response {
            None => Auth::Partial { name: "".into(), instructions: "".into(), prompts: prompts.into() },
            Some(answers) => verdict(answers.filter(|answer| answer.as_ref() == b"right").count() == 2),
        })
    }

    async fn channel_open_session(
        &mut self,
        _channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        reply.accept().await;
        Ok(())
    }

    async fn exec_request(&mut self, id: ChannelId, data: &[u8], session: &mut Session) -> Result<(), russh::Error> {
        session.channel_success(id)?;
        session.data(id, data.to_vec())?;
        if data.starts_with(b"exit") {
            session.exit_status_request(id, 0)?;
        }
        session.close(id)
    }
}

async fn connect(way: MethodKind, password: &str) -> Result<Communicator, SshError> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Arc::new(server::Config {
        keys: vec![PrivateKey::from(Ed25519Keypair::from_seed(&[7; 32]))],
        methods: MethodSet::from(&[way][..]),
        auth_rejection_time: Duration::ZERO,
        ..server::Config::default()
    });
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(session) = server::run_stream(config.clone(), stream, Server { way }).await {
                tokio::spawn(session);
            }
        }
    });
    let get = |name: &str| match name {
        "host" => Some("127.0.0.1".to_owned()),
        "port" => Some(port.to_string()),
        "password" => Some(password.to_owned()),
        "timeout" => Some("1s".to_owned()),
        _ => None,
    };
    Communicator::connect(Settings::read(&get, None).unwrap(), &|_| {}).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passwords() {
    for way in [MethodKind::Password, MethodKind::KeyboardInteractive] {
        let mut communicator = connect(way, "right").await.unwrap();
        let seen = std::sync::Mutex::new(Vec::new());
        communicator.run(" exit 0 ", &|line| seen.lock().unwrap().push(line.to_owned())).await.unwrap();
        assert_eq!(*seen.lock().unwrap(), ["exit 0"]);
        let lost = communicator.run("vanish", &|_| {}).await.unwrap_err().to_string();
        let why = "wait: remote command exited without exit status or exit signal";
        assert_eq!(lost, format!("error executing \"vanish\": {why}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_for_wrong_passwords_list_the_methods() {
    let error = connect(MethodKind::Password, "wrong").await.err().unwrap().to_string();
    let tried = "ssh: unable to authenticate, attempted methods [none password], no supported methods remain";
    assert!(error.starts_with("timeout - last error: SSH authentication failed (root@127.0.0.1:"), "{error}");
    assert!(error.ends_with(&format!("): ssh: handshake failed: {tried}")), "{error}");
}
