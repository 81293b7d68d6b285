//! Compares with results of Go 1.26, recorded in `golden.tsv`: a kind, its input, the result.

use serde_json::Value;

use super::functions;
use super::functions::{Moment, duration_parse, unix_timestamp_parse};
use super::provider::Time;
use super::rules::offset::{self, Offsets};
use super::rules::rotating::{self, Rotation};
use super::rules::{fixed, sleep};
use super::timestamp::{self, Parts, Timestamp};
use crate::providers::tester::{Tester, text};

fn recorded(kind: &str) -> Vec<Vec<&'static str>> {
    let lines = include_str!("golden.tsv").lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let cases: Vec<Vec<&str>> = lines.filter(|fields| fields[0] == kind).map(|fields| fields[1..].to_vec()).collect();
    assert!(cases.len() > 10, "{kind}");
    cases
}

fn shown(m: &Moment) -> String {
    let Moment { rfc3339, unix, year, year_day, month, month_name, day, weekday, .. } = m;
    let Moment { weekday_name, hour, minute, second, iso_year, iso_week, .. } = m;
    let date = format!("{year} {year_day} {month} {month_name} {day} {weekday} {weekday_name}");
    format!("{rfc3339} {unix} {date} {hour} {minute} {second} {iso_year} {iso_week}")
}

#[test]
fn texts_are_parsed_as_in_go() {
    for case in recorded("parse") {
        let text = case[0].replace("\\n", "\n");
        let found = match (functions::rfc3339_parse(&text), Timestamp::parse(&text)) {
            (Ok(moment), Ok(_)) => shown(&moment),
            (Err(message), Err(error)) => {
                assert_eq!(
                    message.to_string(),
                    format!("Error parsing RFC3339 timestamp: {text:?} is not a valid RFC3339 timestamp")
                );
                error.to_string()
            }
            _ => panic!("{text}"),
        };
        assert_eq!(found, case[1], "{text}");
    }
}

#[test]
fn unix_timestamps_have_the_dates_of_go() {
    for case in recorded("unix") {
        assert_eq!(shown(&unix_timestamp_parse(case[0].parse().unwrap())), case[1], "{}", case[0]);
    }
    // Go's own arithmetic overflows there.
    assert_eq!(unix_timestamp_parse(i64::MAX).year, 292_277_026_596);
    assert_eq!(unix_timestamp_parse(i64::MIN).year, -292_277_022_657);
}

#[test]
fn offsets_are_added_as_in_go() {
    for case in recorded("offset") {
        let numbers: Vec<Option<i64>> = case[1].split(' ').map(|number| number.parse().ok()).collect();
        let &[years, months, days, hours, minutes, seconds] = numbers.as_slice() else { panic!("{case:?}") };
        let offsets = Offsets { years, months, days, hours, minutes, seconds };
        let found = offsets.add_to(Timestamp::parse(case[0]).unwrap());
        assert_eq!([found.to_rfc3339(), found.unix().to_string()], [case[2], case[3]], "{case:?}");
    }
}

#[test]
fn durations_have_the_units_of_go() {
    for case in recorded("duration") {
        let found = duration_parse(case[0]).map_or("bad".to_owned(), |d| {
            let whole = format!("{} {} {}", d.milliseconds, d.microseconds, d.nanoseconds);
            format!("{} {} {} {whole}", d.hours, d.minutes, d.seconds)
        });
        assert_eq!(found, case[1], "{}", case[0]);
    }
}

/// The attributes of a recorded state, as this module computes them.
fn computed(state: &Value) -> (String, Parts) {
    let text = |name: &str| state[name].as_str();
    let number = |name: &str| state[name].as_i64();
    match text("type") {
        Some("time_static") => {
            let parts = fixed::attributes(text("rfc3339"), Timestamp::ZERO).unwrap();
            (parts.rfc3339.clone(), parts)
        }
        Some("time_offset") => {
            let offsets = Offsets {
                years: number("offset_years"),
                months: number("offset_months"),
                days: number("offset_days"),
                hours: number("offset_hours"),
                minutes: number("offset_minutes"),
                seconds: number("offset_seconds"),
            };
            let found = offset::attributes(text("base_rfc3339"), &offsets, Timestamp::ZERO).unwrap();
            (found.base_rfc3339, found.parts)
        }
        _ => {
            let units = Rotation {
                years: number("rotation_years"),
                months: number("rotation_months"),
                days: number("rotation_days"),
                hours: number("rotation_hours"),
                minutes: number("rotation_minutes"),
                rfc3339: None,
            };
            // The attribute is computed if a unit is given.
            let rfc3339 = text("rotation_rfc3339").filter(|_| units == Rotation::default()).map(str::to_owned);
            let rotation = Rotation { rfc3339, ..units };
            let found = rotating::attributes(text("rfc3339"), &rotation, Timestamp::ZERO).unwrap();
            (found.rfc3339, found.rotation)
        }
    }
}

/// The states were recorded from time 0.14.0.
#[test]
fn states_have_the_attributes_of_the_reference() {
    let mut cases = 0;
    for line in include_str!("states.jsonl").lines() {
        let state: Value = serde_json::from_str(line).unwrap();
        let (id, parts) = computed(&state);
        assert_eq!(Some(id.as_str()), state["id"].as_str(), "{line}");
        let time = if state["type"] == "time_rotating" { "rotation_rfc3339" } else { "rfc3339" };
        assert_eq!(Some(parts.rfc3339.as_str()), state[time].as_str(), "{line}");
        let numbers = [
            ("year", parts.year),
            ("month", parts.month),
            ("day", parts.day),
            ("hour", parts.hour),
            ("minute", parts.minute),
            ("second", parts.second),
            ("unix", parts.unix),
        ];
        for (name, value) in numbers {
            assert_eq!(Some(value), state[name].as_i64(), "{name} {line}");
        }
        cases += 1;
    }
    assert!(cases > 15);
}

#[test]
fn years_of_five_digits_are_an_error() {
    let offsets = Offsets { years: Some(9000), ..Offsets::default() };
    let failure = offset::attributes(Some("2024-01-31T22:05:09Z"), &offsets, Timestamp::ZERO).unwrap_err();
    assert_eq!(failure.summary, "Invalid RFC3339 String Value");
    let error = "parsing time \"11024-01-31T22:05:09Z\" as \"2006-01-02T15:04:05Z07:00\": \
                 cannot parse \"4-01-31T22:05:09Z\" as \"-\"";
    let expected = format!(
        "A string value was provided that is not valid RFC3339 string format.\n\n\
         Given Value: 11024-01-31T22:05:09Z\nError: {error}"
    );
    assert_eq!(failure.detail, expected);
}

#[test]
fn spellings_of_a_moment_are_the_same() {
    let cases = [
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00+00:00", true),
        ("2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00Z", true),
        ("2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00", false),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z", false),
        ("bad", "bad", true),
        ("bad", "2024-01-01T00:00:01Z", false),
    ];
    for (old, new, expected) in cases {
        assert_eq!(timestamp::is_same(old, new), expected, "{old} {new}");
    }
}

#[test]
fn present_moment_is_the_default() {
    let now = Timestamp::from_unix(1_706_738_709);
    assert_eq!(fixed::attributes(None, now).unwrap().rfc3339, "2024-01-31T22:05:09Z");
    assert_eq!(fixed::attributes(Some("2024-01-31T22:05:09-08:00"), now).unwrap().hour, 22);
    let offsets = Offsets { days: Some(1), ..Offsets::default() };
    let found = offset::attributes(None, &offsets, now).unwrap();
    assert_eq!((found.base_rfc3339.as_str(), found.parts.day), ("2024-01-31T22:05:09Z", 1));
    assert!(Timestamp::now().is_after(now));
}

#[test]
fn one_unit_of_a_rotation_counts() {
    let base = "2094-01-31T10:00:00Z";
    let rotation = |years, months, days, hours, minutes, rfc3339: Option<&str>| Rotation {
        years,
        months,
        days,
        hours,
        minutes,
        rfc3339: rfc3339.map(str::to_owned),
    };
    let at = Some("2095-01-02T03:04:05Z");
    let cases = [
        (rotation(None, None, Some(3), None, None, None), "2094-02-03T10:00:00Z"),
        (rotation(None, None, Some(3), Some(5), None, None), "2094-01-31T15:00:00Z"),
        (rotation(None, None, Some(3), Some(5), Some(7), None), "2094-01-31T10:07:00Z"),
        (rotation(None, Some(1), Some(3), None, None, None), "2094-03-03T10:00:00Z"),
        (rotation(None, Some(1), None, None, None, at), "2095-01-02T03:04:05Z"),
        (rotation(Some(2), None, None, None, None, at), "2096-01-31T10:00:00Z"),
        (rotation(None, None, Some(0), None, None, Some("")), "0001-01-01T00:00:00Z"),
    ];
    for (rotation, expected) in cases {
        let found = rotating::attributes(Some(base), &rotation, Timestamp::ZERO).unwrap();
        assert_eq!((found.rfc3339.as_str(), found.rotation.rfc3339.as_str()), (base, expected), "{rotation:?}");
    }
}

#[test]
fn rotation_expires_after_its_moment() {
    let now = Timestamp::parse("2024-01-31T22:05:09Z").unwrap();
    let cases = [
        (None, false),
        (Some(""), false),
        (Some("2024-01-31T22:05:08Z"), true),
        (Some("2024-01-31T22:05:09Z"), false),
        (Some("2024-01-31T23:05:08+01:00"), true),
        (Some("2024-01-31T22:05:10Z"), false),
    ];
    for (rotation, expected) in cases {
        assert_eq!(rotating::is_expired(rotation, now).unwrap(), expected, "{rotation:?}");
        if let Some(rotation) = rotation.filter(|text| !text.is_empty()) {
            assert_eq!(rotating::change_replaces(rotation, now).unwrap(), expected, "{rotation:?}");
        }
    }
}

#[test]
fn import_ids_have_fixed_forms() {
    let (offsets, found) = offset::import("2024-01-31T22:05:09Z,1,,0,,,-6").unwrap();
    assert_eq!(offsets, Offsets { years: Some(1), days: Some(0), seconds: Some(-6), ..Offsets::default() });
    assert_eq!(found.parts.rfc3339, "2025-01-31T22:05:03Z");
    let (rotation, found) = rotating::import("2094-01-31T10:00:00Z,,,30,,").unwrap();
    assert_eq!(rotation, Rotation { days: Some(30), ..Rotation::default() });
    assert_eq!(found.rotation.rfc3339, "2094-03-02T10:00:00Z");
    let (rotation, found) = rotating::import("2094-01-31T10:00:00Z,2095-01-02T03:04:05Z").unwrap();
    assert_eq!((rotation, found.rotation.year), (Rotation::default(), 2095));
    let (rotation, found) = rotating::import("2094-01-31T10:00:00Z,,,-3,,").unwrap();
    assert_eq!((rotation.days, found.rotation.year), (Some(-3), 1));
    assert_eq!(fixed::import("2024-01-31T22:05:09-08:00").unwrap().unix, 1_706_767_509);
    assert_eq!(sleep::import("1ms,").unwrap(), (Some("1ms"), None));
    assert_eq!(sleep::import(",1h30m").unwrap(), (None, Some("1h30m")));

    let offset = |id: &str| offset::import(id).unwrap_err().summary;
    assert_eq!(offset("2024-01-31T22:05:09Z,1,2,3"), "Unexpected Format of ID");
    assert_eq!(offset(",1,2,3,4,5,6"), "Unexpected Format of ID");
    assert_eq!(offset("2024-01-31T22:05:09Z,,,,,,"), "Unexpected Format of ID");
    assert_eq!(offset("2024-01-31T22:05:09Z,1.5,,,,,"), "Import time offset error");
    assert_eq!(offset("2024-01-31T22:05:09Z,--1,,,,,"), "Import time offset error");
    assert_eq!(offset("noon,,,1,,,"), "Create time offset error");
    let rotating = |id: &str| rotating::import(id).unwrap_err().summary;
    for id in ["", "a", "a,", ",b", ",1,,,,", "a,,,,,", "a,1,1", "a,1,1,1,1,1,1"] {
        assert_eq!(rotating(id), "Unexpected Format of ID", "{id}");
    }
    for id in ["noon,2095-01-02T03:04:05Z", "2095-01-02T03:04:05Z,noon", "noon,1,,,,", "2095-01-02T03:04:05Z,x,,,,"] {
        assert_eq!(rotating(id), "Import time rotating error", "{id}");
    }
    assert_eq!(fixed::import("yesterday").unwrap_err().summary, "Import time static error");
    for id in ["", ",", "1s", "1s,1s,1s"] {
        assert_eq!(sleep::import(id).unwrap_err().summary, "Unexpected Format of ID", "{id}");
    }
    let failure = sleep::import("x,1s").unwrap_err();
    assert_eq!(failure.summary, "Import time sleep error");
    assert_eq!(failure.detail, "The create_duration cannot be parsed\n\n+Original Error: time: invalid duration \"x\"");
}

#[test]
fn configured_durations_have_one_unit() {
    for text in ["30s", "1.5h", "0m", "10ms", "007s"] {
        assert!(sleep::is_valid_duration(text), "{text}");
    }
    for text in ["", "s", "-1s", "1", "1h30m", ".5s", "1.s", "1us", "1 s", "1ns", "1.5.5s", "１s", "1s\n"] {
        assert!(!sleep::is_valid_duration(text), "{text}");
    }
    let pause = sleep::Pause::AfterCreate;
    assert_eq!(pause.duration(Some("0.02s")).unwrap().as_millis(), 20);
    assert_eq!(pause.duration(Some("")).unwrap().as_millis(), 0);
    assert_eq!(pause.duration(Some("1d")).unwrap_err().summary, "Create time sleep error");
}

/// Observed on time 0.13.1: only `time_static` has the text that was given, with its fraction and notation of UTC.
#[tokio::test]
async fn ids_of_given_timestamps() {
    const GIVEN: &str = "2091-03-04T23:30:00.987000000+00:00";
    let cases = [
        ("time_static", "rfc3339", None, GIVEN),
        ("time_offset", "base_rfc3339", Some("offset_hours"), "2091-03-04T23:30:00Z"),
        ("time_rotating", "rfc3339", Some("rotation_days"), "2091-03-04T23:30:00Z"),
    ];
    for (kind, base, unit, id) in cases {
        let tester = Tester::resource(Time, kind).await;
        let units = unit.map(|unit| (unit, terrane_sdk::Value::int(1)));
        let config = tester.object_of([(base, terrane_sdk::Value::string(GIVEN))].into_iter().chain(units));
        let planned = tester.plan(tester.absent(), config.clone()).await.planned;
        if kind == "time_static" {
            assert_eq!(text(&planned, "id"), id);
        }
        let created = tester.create(planned).await.unwrap();
        assert_eq!((text(&created, "id"), text(&created, base)), (id, GIVEN), "{kind}");
        assert_eq!(tester.plan(created.clone(), config).await.planned, created, "{kind}");
    }
}
