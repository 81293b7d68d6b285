//! The lines of the log, as text or as JSON, in the format of the reference.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use gotext::timestamp::Timestamp;
use terrane_logging::Level;

/// The line of a message as text, with its line feed. `name`: who wrote it, if it is not the program.
pub fn text_line(time: &str, level: Level, name: &str, message: &str, fields: &[(String, String)]) -> String {
    let mut line = format!("{time} {} ", label(level));
    if !name.is_empty() {
        let _ = write!(line, "{name}: ");
    }
    line.push_str(message);
    for (i, (key, value)) in fields.iter().enumerate() {
        let separator = if i == 0 { ": " } else { " " };
        if value.contains('\n') {
            let _ = write!(line, "{separator}{key}=\n  | {}", value.trim_end().replace('\n', "\n  | "));
        } else if value.contains([' ', '"', '=']) {
            let _ = write!(line, "{separator}{key}={value:?}");
        } else {
            let _ = write!(line, "{separator}{key}={value}");
        }
    }
    line.push('\n');
    line
}

/// As [`text_line`], as JSON.
pub fn json_line(time: &str, level: Level, name: &str, message: &str, fields: &[(String, String)]) -> String {
    let mut object = serde_json::Map::new();
    object.insert("@level".into(), level.name().into());
    object.insert("@message".into(), message.into());
    if !name.is_empty() {
        object.insert("@module".into(), name.into());
    }
    object.insert("@timestamp".into(), time.into());
    object.extend(fields.iter().map(|(k, v)| (k.clone(), v.as_str().into())));
    format!("{}\n", serde_json::Value::Object(object))
}

fn label(level: Level) -> &'static str {
    match level {
        Level::Trace => "[TRACE]",
        Level::Debug => "[DEBUG]",
        Level::Info => "[INFO] ",
        Level::Warn => "[WARN] ",
        Level::Error => "[ERROR]",
        Level::Off => "[OFF]  ",
    }
}

/// The present moment, as the reference writes it in lines of JSON or of text.
pub fn timestamp(json: bool) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs() as i64;
    moment_text(Timestamp { seconds, nanoseconds: since.subsec_nanos(), offset: local_offset(seconds) }, json)
}

fn moment_text(moment: Timestamp, json: bool) -> String {
    let zone = match (moment.offset, json) {
        (0, _) => "Z".to_owned(),
        (_, true) => moment.offset_text(":"),
        (_, false) => moment.offset_text(""),
    };
    match json {
        true => format!("{}.{:06}{zone}", moment.local_text(), moment.nanoseconds / 1_000),
        false => format!("{}.{:03}{zone}", moment.local_text(), moment.nanoseconds / 1_000_000),
    }
}

/// Seconds east of UTC at a moment, as the machine is set up.
fn local_offset(second: i64) -> i32 {
    #[cfg(unix)]
    {
        // SAFETY: localtime_r fills the structure it is given and nothing else.
        unsafe {
            let mut parts: libc::tm = std::mem::zeroed();
            if libc::localtime_r(&(second as _), &mut parts).is_null() { 0 } else { parts.tm_gmtoff as i32 }
        }
    }
    #[cfg(not(unix))]
    {
        let _ = second;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_usual_format() {
        let fields = [("a".to_string(), "1".to_string()), ("b".to_string(), "x y".to_string())];
        assert_eq!(text_line("T", Level::Info, "", "hello", &[]), "T [INFO]  hello\n");
        assert_eq!(text_line("T", Level::Debug, "p.q", "hi", &fields), "T [DEBUG] p.q: hi: a=1 b=\"x y\"\n");
        let json = json_line("T", Level::Warn, "", "m", &fields[..1]);
        assert_eq!(json, "{\"@level\":\"warn\",\"@message\":\"m\",\"@timestamp\":\"T\",\"a\":\"1\"}\n");
        assert!(timestamp(false).len() >= 24);
        let moment = |offset| Timestamp { seconds: 951_827_696, nanoseconds: 7_008_009, offset };
        for (offset, json, expected) in [
            (0, false, "2000-02-29T12:34:56.007Z"),
            (0, true, "2000-02-29T12:34:56.007008Z"),
            (5_400, false, "2000-02-29T14:04:56.007+0130"),
            (-16_200, true, "2000-02-29T08:04:56.007008-04:30"),
        ] {
            assert_eq!(moment_text(moment(offset), json), expected);
        }
    }
}
