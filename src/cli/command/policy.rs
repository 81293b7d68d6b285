//! `policy test` and `policy validate`

use ops::policies::{test, validate};

use crate::Invocation;
use crate::args::policy::{parse_test, parse_validate};
use crate::view::policy;

pub fn run_test(invocation: &Invocation, args: &[String]) -> u8 {
    tested(invocation, args).unwrap_or_else(|code| code)
}

fn tested(invocation: &Invocation, args: &[String]) -> Result<u8, u8> {
    let args = parse_test(args).map_err(|error| invocation.usage_error(error))?;
    let setup = super::setup_without_flag(invocation, false)?;
    let view = policy::test_view(&invocation.console, args.json);
    let mut files = Vec::new();
    let diagnostics = test::run(&setup, &args.request, |file| {
        view.file(&file);
        files.push(file);
    });
    let failed = diagnostics.has_errors() || files.iter().any(test::TestedFile::failed);
    view.finish(&files, diagnostics);
    Ok(u8::from(failed))
}

pub fn run_validate(invocation: &Invocation, args: &[String]) -> u8 {
    validated(invocation, args).unwrap_or_else(|code| code)
}

fn validated(invocation: &Invocation, args: &[String]) -> Result<u8, u8> {
    let args = parse_validate(args).map_err(|error| invocation.usage_error(error))?;
    let setup = super::setup_without_flag(invocation, false)?;
    let diagnostics = validate::run(&setup, &[args.policies]);
    let failed = diagnostics.has_errors();
    policy::validated(&invocation.console, args.json, diagnostics);
    Ok(u8::from(failed))
}
