//! Output of a plugin: its handshake line, its log, its panic. Both pipes are read as long as the process
//! lives, because a full pipe would block it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use base::log;
use terrane_logging::Level;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::sync::oneshot;

/// Limit for the length of a line.
const LINE_LIMIT: usize = 1 << 20;
/// What is kept of a panic, in lines and in bytes.
const PANIC_LIMIT: usize = 200;
const PANIC_BYTES: usize = 256 << 10;
/// What is kept of other output, in lines.
const TAIL_LIMIT: usize = 10;

/// The plugin, for the log.
pub struct Source {
    pub log_name: String,
    pub module: String,
}

/// Output of a process that may be reported after its end.
#[derive(Debug, Default)]
pub struct Collected {
    panic: Vec<String>,
    reported: bool,
    tail: VecDeque<String>,
}

impl Collected {
    fn line(&mut self, line: &str) {
        let begins = ["panic: ", "fatal error: "].iter().any(|start| line.starts_with(start))
            || (line.starts_with("thread '") && line.contains("panicked at"));
        if begins || !self.panic.is_empty() {
            let left = PANIC_BYTES.saturating_sub(self.panic.iter().map(String::len).sum());
            if self.panic.len() < PANIC_LIMIT && left > 0 {
                self.panic.push(line[..line.floor_char_boundary(left)].to_owned());
            }
            return;
        }
        if !line.trim().is_empty() {
            if self.tail.len() == TAIL_LIMIT {
                self.tail.pop_front();
            }
            self.tail.push_back(line.chars().take(1000).collect());
        }
    }

    /// The panic; only the first caller receives it.
    pub fn take_panic(&mut self) -> Option<String> {
        if self.reported || self.panic.is_empty() {
            return None;
        }
        self.reported = true;
        Some(self.panic.join("\n").trim_end().to_owned())
    }

    /// The last lines that were not for the log, indented.
    pub fn tail(&self) -> String {
        self.tail.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    }
}

/// Hands over the first line; what follows on standard output goes nowhere.
pub async fn watch_stdout(stdout: impl AsyncRead + Unpin, first: oneshot::Sender<String>) {
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    if let Ok(count) = (&mut reader).take(LINE_LIMIT as u64).read_until(b'\n', &mut line).await
        && count > 0
    {
        let _ = first.send(String::from_utf8_lossy(&line).into_owned());
    } else {
        drop(first);
    }
    let _ = tokio::io::copy_buf(&mut reader, &mut tokio::io::sink()).await;
}

/// Sends standard error to the log, line by line, and keeps what a crash leaves behind.
pub async fn watch_stderr(stderr: impl AsyncRead + Unpin, source: Source, collected: Arc<Mutex<Collected>>) {
    let mut reader = BufReader::with_capacity(64 << 10, stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(LINE_LIMIT as u64).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => take_line(&line, &source, &collected),
        }
    }
}

fn take_line(line: &[u8], source: &Source, collected: &Mutex<Collected>) {
    let wanted = log::provider_level(&source.log_name) != Level::Off;
    // A line for the log that is disabled: not parsed.
    if !wanted && line.starts_with(b"{\"@") {
        return;
    }
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\r', '\n']);
    let entry = LogLine::parse(text);
    if wanted {
        log::write_provider(&source.log_name, entry.level, &source.module, &entry.message, &entry.fields);
    }
    if !entry.structured
        && let Ok(mut collected) = collected.lock()
    {
        collected.line(text);
    }
}

/// One line as the log takes it.
#[derive(Debug, PartialEq)]
struct LogLine {
    level: Level,
    message: String,
    fields: Vec<(String, String)>,
    structured: bool,
}

impl LogLine {
    /// Plugins log lines of JSON with "@level" and "@message"; anything else is taken as it is, at the level that it
    /// begins with.
    fn parse(line: &str) -> LogLine {
        LogLine::parse_json(line).unwrap_or_else(|| {
            let levels = [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error];
            let prefix = line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(prefix, _)| prefix);
            let named = prefix.and_then(Level::parse).filter(|level| levels.contains(level));
            let crash = line.starts_with("panic: ") || line.starts_with("fatal error: ");
            let level = if crash { Level::Error } else { named.unwrap_or(Level::Debug) };
            LogLine { level, message: line.to_owned(), fields: Vec::new(), structured: false }
        })
    }

    fn parse_json(line: &str) -> Option<LogLine> {
        if !line.starts_with('{') {
            return None;
        }
        let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).ok()?;
        let level = Level::parse(object.shift_remove("@level")?.as_str()?)?;
        let message = object.shift_remove("@message")?.as_str().unwrap_or_default().to_owned();
        let timestamp = object.shift_remove("@timestamp");
        let mut fields: Vec<(String, String)> =
            object.into_iter().map(|(key, value)| (key, field_text(value))).collect();
        fields.extend(timestamp.map(|timestamp| ("timestamp".to_owned(), field_text(timestamp))));
        Some(LogLine { level, message, fields, structured: true })
    }
}

fn field_text(value: serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_level_that_they_say() {
        let check = |line: &str, level, message: &str, fields: &[(&str, &str)]| {
            let entry = LogLine::parse(line);
            let expected: Vec<_> = fields.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            assert_eq!((entry.level, entry.message.as_str(), entry.fields), (level, message, expected), "{line}");
        };
        check(r#"{"@level":"warn","@message":"m","a":1,"b":"x"}"#, Level::Warn, "m", &[("a", "1"), ("b", "x")]);
        check(r#"{"@message":"m"}"#, Level::Debug, r#"{"@message":"m"}"#, &[]);
        check("[INFO] hello", Level::Info, "[INFO] hello", &[]);
        check("[who] hello", Level::Debug, "[who] hello", &[]);
        check("panic: oh", Level::Error, "panic: oh", &[]);
    }

    #[test]
    fn a_panic_is_complete_and_reported_once() {
        let mut collected = Collected::default();
        for line in ["before", "panic: oh no", "", "goroutine 1 [running]:"] {
            collected.line(line);
        }
        assert_eq!(collected.take_panic().as_deref(), Some("panic: oh no\n\ngoroutine 1 [running]:"));
        assert_eq!(collected.take_panic(), None);
        assert_eq!(collected.tail(), "  before");
        let mut collected = Collected::default();
        collected.line("panic: oh no");
        (0..100).for_each(|_| collected.line(&"é".repeat(LINE_LIMIT / 2)));
        assert!(collected.take_panic().unwrap().len() <= PANIC_BYTES + PANIC_LIMIT);
    }

    #[tokio::test]
    async fn standard_output_gives_its_first_line_only() {
        let (send, line) = oneshot::channel();
        watch_stdout(&b"one\ntwo\n"[..], send).await;
        assert_eq!(line.await.unwrap(), "one\n");
        let (send, line) = oneshot::channel();
        watch_stdout(&b""[..], send).await;
        assert!(line.await.is_err());
    }
}
