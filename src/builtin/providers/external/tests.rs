//! Queries, answers, and runs of small shell programs.

use std::collections::BTreeMap;

use super::message::{decode, encode};

fn query(pairs: &[(&str, Option<&str>)]) -> BTreeMap<String, Option<String>> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.map(str::to_owned))).collect()
}

/// The text was recorded with `json.Marshal` of Go 1.26.
#[test]
fn queries_are_sorted_and_escaped() {
    let pairs = [
        ("zeta", Some("<a&b>")),
        ("alpha", Some("\t\n\u{2028}\u{7f}\u{1}\u{8}\u{c}\"\\/é")),
        ("Beta", Some("")),
        ("n", None),
    ];
    let alpha = "\\t\\n\\u2028\u{7f}\\u0001\\b\\f\\\"\\\\/é";
    let expected = format!(r#"{{"Beta":"","alpha":"{alpha}","zeta":"\u003ca\u0026b\u003e"}}"#);
    assert_eq!(encode(&query(&pairs)), expected);
    assert_eq!(encode(&BTreeMap::new()), "{}");
}

#[test]
fn answers_are_objects_of_strings() {
    let object = |pairs: &[(&str, &str)]| Ok(Some(pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()));
    let cases = [
        ("{}", object(&[])),
        (" {\"a\":\"b\",\"c\":null}\n", object(&[("a", "b"), ("c", "")])),
        ("{\"a\":\"b\",\"a\":\"c\"}", object(&[("a", "c")])),
        ("null", Ok(None)),
        ("[\"a\"]", Err("json: cannot unmarshal array into Go value of type map[string]string")),
        ("\"a\"", Err("json: cannot unmarshal string into Go value of type map[string]string")),
        ("{\"a\":1}", Err("json: cannot unmarshal number into Go value of type string")),
        ("{\"a\":{\"b\":\"c\"}}", Err("json: cannot unmarshal object into Go value of type string")),
        ("{\"a\":true}", Err("json: cannot unmarshal bool into Go value of type string")),
        ("", Err("unexpected end of JSON input")),
    ];
    for (text, expected) in cases {
        assert_eq!(
            decode(text.as_bytes()).map_err(|error| error.to_string()),
            expected.map_err(str::to_owned),
            "{text}"
        );
    }
    for text in ["hello", "{\"a\":\"b\"} x", "\u{feff}{}", "{\"a\":\"b\"", "{'a':'b'}"] {
        assert!(decode(text.as_bytes()).is_err(), "{text}");
    }
    let lossy = decode(b"{\"a\":\"\xff\"}").unwrap().unwrap();
    assert_eq!(lossy["a"], "\u{fffd}");
}

#[cfg(unix)]
mod programs {
    use std::time::{Duration, Instant};

    use super::super::{Call, run};
    use super::{BTreeMap, query};
    use crate::providers::failure::Failure;

    fn attempt(call: Call) -> Result<Option<BTreeMap<String, String>>, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(&call))
    }

    fn words(words: &[&str]) -> Vec<Option<String>> {
        words.iter().map(|word| Some(word.to_string())).collect()
    }

    fn script(text: &str) -> Call {
        Call { program: words(&["sh", "-c", text]), ..Call::default() }
    }

    fn value(call: Call) -> String {
        attempt(call).unwrap().unwrap().remove("v").unwrap()
    }

    #[test]
    fn programs_answer_queries() {
        let echo =
            Call { program: words(&["cat"]), query: query(&[("v", Some("<x>")), ("w", None)]), ..Call::default() };
        assert_eq!(attempt(echo.clone()).unwrap().unwrap().len(), 1);
        assert_eq!(value(echo), "<x>");
        let empty =
            Call { program: words(&["sh", "-c", "printf '{\"v\":\"%s\"}' $#", "zero", "", "two"]), ..Call::default() };
        assert_eq!(value(empty), "1");
        assert_eq!(value(script("echo noise >&2; printf '{\"v\":\"%s\"}' \"$0\"")), "sh");
        let inside = Call { working_dir: Some("/".to_owned()), ..script("printf '{\"v\":\"%s\"}' \"$PWD\"") };
        assert_eq!(value(inside), "/");
    }

    #[test]
    fn large_messages_do_not_block() {
        let text = "0123456789".repeat(100_000);
        let call = Call { program: words(&["cat"]), query: query(&[("v", Some(&text))]), ..Call::default() };
        assert_eq!(value(call), text);
        let unread = Call { query: query(&[("v", Some(&text))]), ..script("echo '{\"v\":\"1\"}'") };
        assert_eq!(value(unread), "1");
    }

    #[test]
    fn failures_have_the_summaries_of_the_reference() {
        let program = |program: &[&str]| Call { program: words(program), ..Call::default() };
        let missing_folder = Call { working_dir: Some("nowhere".to_owned()), ..script("echo {}") };
        let cases = [
            (program(&[]), "External Program Missing", "at least one non-empty value"),
            (program(&["", ""]), "External Program Missing", "at least one non-empty value"),
            (program(&["no-such-program"]), "External Program Lookup Failed", "executable file not found in $PATH"),
            (program(&["./none"]), "External Program Lookup Failed", "stat ./none: no such file or directory"),
            (program(&["/etc/passwd"]), "External Program Lookup Failed", "permission denied"),
            (program(&["/etc"]), "External Program Lookup Failed", "is a directory"),
            (missing_folder, "External Program Execution Failed", "State: chdir nowhere: no such file or directory"),
            (
                script("echo no wind >&2; exit 9"),
                "External Program Execution Failed",
                "no wind\n\nState: exit status 9",
            ),
            (script("exit 9"), "External Program Execution Failed", "no additional error messaging."),
            (script("kill -9 $$"), "External Program Execution Failed", "State: signal: killed"),
            (script("echo hello"), "Unexpected External Program Results", "Result Error: "),
        ];
        for (call, summary, part) in cases {
            let failure = attempt(call.clone()).unwrap_err();
            assert_eq!(failure.summary, summary, "{call:?}");
            assert!(failure.detail.contains(part), "{call:?}: {}", failure.detail);
        }
    }

    #[test]
    fn cancellation_kills_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let call = script(&format!("sleep 1; touch {}", mark.display()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let start = Instant::now();
        runtime.block_on(async {
            assert!(tokio::time::timeout(Duration::from_millis(100), run(&call)).await.is_err());
            tokio::time::sleep(Duration::from_millis(1500)).await;
        });
        assert!(start.elapsed() >= Duration::from_millis(1500));
        assert!(!mark.exists());
    }
}
