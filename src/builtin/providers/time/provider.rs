//! The time provider: its resources and functions.

use terrane_sdk::{
    Context, Error, Function, FunctionError, Provider, Signature, Type, Types, Value, Values, argument, parameter,
    signature,
};

use super::functions::{self, Moment};
use super::resources::{Fixed, Offset, Rotating, Sleep};

pub struct Time;

impl Provider for Time {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types
            .resource("time_static", Fixed)
            .resource("time_offset", Offset)
            .resource("time_rotating", Rotating)
            .resource("time_sleep", Sleep)
            .function("duration_parse", DurationParse)
            .function("rfc3339_parse", Rfc3339Parse)
            .function("unix_timestamp_parse", UnixTimestampParse);
    }
}

fn numbers(names: &[&'static str]) -> Vec<(&'static str, Type)> {
    names.iter().map(|name| (*name, Type::Number)).collect()
}

/// The attributes of a moment that both functions return.
const MOMENT: &[&str] =
    &["year", "year_day", "month", "day", "weekday", "hour", "minute", "second", "iso_year", "iso_week"];

fn moment_type(more: (&'static str, Type)) -> Type {
    let mut attributes = numbers(MOMENT);
    attributes.extend([("month_name", Type::String), ("weekday_name", Type::String), more]);
    Type::object(attributes)
}

fn moment_value(moment: &Moment, more: (&'static str, Value)) -> Value {
    Value::object([
        ("year", Value::int(moment.year)),
        ("year_day", Value::int(moment.year_day)),
        ("month", Value::int(moment.month)),
        ("month_name", Value::string(moment.month_name)),
        ("day", Value::int(moment.day)),
        ("weekday", Value::int(moment.weekday)),
        ("weekday_name", Value::string(moment.weekday_name)),
        ("hour", Value::int(moment.hour)),
        ("minute", Value::int(moment.minute)),
        ("second", Value::int(moment.second)),
        ("iso_year", Value::int(moment.iso_year)),
        ("iso_week", Value::int(moment.iso_week)),
        more,
    ])
}

struct DurationParse;

impl Function for DurationParse {
    fn signature(&self) -> Signature {
        let names = ["hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
        signature(
            "The length of a duration in each unit.",
            vec![parameter::<String>("duration", "A duration such as \"1h30m\".")],
            Type::object(numbers(&names)),
        )
    }

    async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let text: String = argument(&arguments, 0)?;
        let parts = functions::duration_parse(&text).map_err(|error| FunctionError::argument(0, error.to_string()))?;
        let float = |number: f64| terrane_sdk::FieldType::into_value(number);
        Ok(Value::object([
            ("hours", float(parts.hours)),
            ("minutes", float(parts.minutes)),
            ("seconds", float(parts.seconds)),
            ("milliseconds", Value::int(parts.milliseconds)),
            ("microseconds", Value::int(parts.microseconds)),
            ("nanoseconds", Value::int(parts.nanoseconds)),
        ]))
    }
}

struct Rfc3339Parse;

impl Function for Rfc3339Parse {
    fn signature(&self) -> Signature {
        signature(
            "The parts of a timestamp, in its own time zone.",
            vec![parameter::<String>("timestamp", "A timestamp in RFC 3339 format.")],
            moment_type(("unix", Type::Number)),
        )
    }

    async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let text: String = argument(&arguments, 0)?;
        let moment = functions::rfc3339_parse(&text).map_err(|error| FunctionError::argument(0, error.to_string()))?;
        Ok(moment_value(&moment, ("unix", Value::int(moment.unix))))
    }
}

struct UnixTimestampParse;

impl Function for UnixTimestampParse {
    fn signature(&self) -> Signature {
        signature(
            "The parts of a number of seconds since 1970-01-01, in UTC.",
            vec![parameter::<i64>("unix_timestamp", "Seconds since 1970-01-01T00:00:00Z.")],
            moment_type(("rfc3339", Type::String)),
        )
    }

    async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let moment = functions::unix_timestamp_parse(argument(&arguments, 0)?);
        Ok(moment_value(&moment, ("rfc3339", Value::string(&moment.rfc3339))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_implementation_is_valid() {
        terrane_sdk::validate_implementation(Time).unwrap();
    }
}
