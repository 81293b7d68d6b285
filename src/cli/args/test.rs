//! `test` and `test cleanup`

use std::path::{Component, Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use clap::{Arg, ArgMatches, Command};
use model::plan::DEFAULT_PARALLELISM;
use ops::interface::testing::{Cleanup, TestRequest, TestSelection, Watch};

use super::common::{
    json_flag, json_into_flag, parallelism_flag, progress_flag, test_directory_flag, variable_arguments,
    variable_flags, view_flags,
};
use super::flags::{self, FlagError, Given, list, number, optional, switch, text};
use super::{ArgsError, BAD_FLAGS, gather};

const INCOMPATIBLE: &str = "Incompatible command-line flags";

#[derive(Debug)]
pub struct Test {
    pub request: TestRequest,
    pub json: bool,
    /// The file for the report in JUnit's format.
    pub junit: Option<PathBuf>,
    /// Annotations and a summary for GitHub.
    pub reports_to_github: bool,
    /// How many of the slowest runs are listed at the end.
    pub durations: usize,
    pub coverage: Vec<CoverageOutput>,
}

/// Where the coverage goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageOutput {
    pub format: CoverageFormat,
    /// None: standard output.
    pub file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageFormat {
    Table,
    Json,
    Lcov,
    Cobertura,
}

impl CoverageFormat {
    fn named(name: &str) -> Option<CoverageFormat> {
        Some(match name {
            "table" => CoverageFormat::Table,
            "json" => CoverageFormat::Json,
            "lcov" => CoverageFormat::Lcov,
            "cobertura" => CoverageFormat::Cobertura,
            _ => return None,
        })
    }
}

pub fn command() -> Command {
    flags::command("test")
        .about("Execute integration tests for modules")
        .long_about(format!(
            "Executes the \"run\" blocks of the test files (*.tftest.hcl) in the working directory and in the folder of test files, \
             and checks their assertions.\n\n\
             Runs may create real infrastructure. {PROGRAM} destroys it at the end of each file and reports what it could not \
             destroy."
        ))
        .args(common_flags())
        .args([
            list("filter", "testfile", FILTER_HELP),
            switch("allow-deferral", false, "Plan what is known, and leave the rest to a later plan."),
            text("cloud-run", "source", "Not supported: tests run on this machine."),
            list_of_optional(
                "coverage",
                "format:file",
                "Report what the runs evaluated of the configuration: \"table\", \"json:FILE\", \"lcov:FILE\" or \"cobertura:FILE\". Without a value: a table. May be repeated.",
            ),
            number("durations", "0", "List so many of the slowest runs at the end."),
            text("junit-xml", "path", "Write a report in JUnit's format to this file."),
            switch("last-failed", false, "Execute only the runs that did not pass the last time."),
            switch(
                "parallel-files",
                false,
                "Execute test files side by side, also those that reach real infrastructure. Files that cannot are always executed so.",
            ),
            parallelism_flag(),
            switch("recursive", false, "Find test files in the folders below the folder of test files too."),
            text("report", "form", "github: write annotations of GitHub Actions, and a summary of the job.")
                .value_parser(["github"]),
            text("shard", "i/n", "Execute the i-th of n parts of the test files, such as 1/4, for several machines."),
            switch("update-snapshots", false, "Write snapshots instead of comparing them."),
            optional(
                "watch",
                "all",
                "After the suite, execute again what a changed file affects: runs that only plan or whose providers are all mocked. With the value \"all\": others too.",
            ),
            repair_flag().hide(true),
        ])
        .arg(progress_flag())
        .args(view_flags())
}

/// The arguments of `test cleanup`. What only matters to runs is accepted, as in the reference.
pub fn cleanup_command() -> Command {
    flags::command("test cleanup")
        .about("Clean up resources left over by tests")
        .long_about(
            "Destroys the resources that tests left: because destroying them failed, because the program was ended, or because a \
             run sets \"skip_cleanup\". Executes no run.",
        )
        .args(common_flags())
        .args([
            list("filter", "testfile", "Clean up only after this test file. May be repeated."),
            repair_flag(),
            text("junit-xml", "path", "").hide(true),
            switch("allow-deferral", false, "").hide(true),
            parallelism_flag(),
        ])
        .arg(progress_flag())
        .args(view_flags())
}

const FILTER_HELP: &str = "Execute only this test file, or only the run at FILE:RUN or FILE:LINE, or the runs whose names match run:PATTERN. May be repeated.";

fn common_flags() -> impl Iterator<Item = Arg> {
    let run_parallelism =
        number("run-parallelism", "10", "How many runs of one test file may be executed at the same time.");
    let own = [
        json_flag(),
        json_into_flag(),
        test_directory_flag(),
        switch("verbose", false, "Print the plan or the state of each run."),
        run_parallelism.hide(true),
    ];
    own.into_iter().chain(variable_flags())
}

fn repair_flag() -> Arg {
    switch(
        "repair",
        false,
        "Destroy only what an error left. Bring back what \"skip_cleanup\" keeps to the state after its run.",
    )
}

/// A flag with an optional value that may be given again and again.
fn list_of_optional(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    optional(name, value, help).action(clap::ArgAction::Append)
}

pub fn parse(args: &[String]) -> Result<Test, ArgsError> {
    let (given, mut problems) = gather(command(), args);
    let selection = selection(&given, &mut problems);
    let coverage = coverage(&given, &mut problems);
    let watch = watch(&given, &mut problems);
    let (json, reports_to_github) = (given.on("json"), given.text("report").is_some());
    if json && reports_to_github {
        problems.error(INCOMPATIBLE, "The -json and -report options are mutually exclusive.");
    }
    if problems.has_errors() {
        return Err(ArgsError::all(problems, false));
    }
    if given.on("repair") {
        let detail = "The -repair flag is only valid for the 'test cleanup' command.";
        return Err(without_hint(Diagnostic::error("Invalid command mode", detail), false));
    }
    if given.text("cloud-run").is_some_and(|source| !source.is_empty()) {
        let detail = format!(
            "{PROGRAM} runs tests on this machine only: the -cloud-run option is not supported. Nothing was run."
        );
        return Err(without_hint(Diagnostic::error("Remote test runs are not supported", detail), json));
    }
    let request = TestRequest { selection, watch, coverage: !coverage.is_empty(), ..request(&given)? };
    let durations = usize::try_from(given.number("durations")).unwrap_or(0);
    let junit = given.text("junit-xml").filter(|path| !path.is_empty()).map(PathBuf::from);
    Ok(Test { request, json, junit, reports_to_github, durations, coverage })
}

pub fn parse_cleanup(args: &[String]) -> Result<Test, ArgsError> {
    let (given, problems) = gather(cleanup_command(), args);
    if problems.has_errors() {
        return Err(ArgsError::all(problems, false));
    }
    let selection = TestSelection { filters: given.texts("filter"), ..TestSelection::default() };
    let cleanup = Some(Cleanup { repair: given.on("repair") });
    let request = TestRequest { selection, cleanup, ..request(&given)? };
    let json = given.on("json");
    Ok(Test { request, json, junit: None, reports_to_github: false, durations: 0, coverage: Vec::new() })
}

/// What both commands have.
fn request(given: &ArgMatches) -> Result<TestRequest, ArgsError> {
    let test_dir = given.text("test-directory").unwrap_or_else(|| "tests".to_owned());
    if !is_local(Path::new(&test_dir)) {
        let detail = "The testing directory must be a relative path pointing to a directory local to the configuration directory.";
        return Err(without_hint(Diagnostic::error("Invalid testing directory", detail), given.on("json")));
    }
    let at_least_one = |flag: &str| {
        let number = usize::try_from(given.number(flag)).unwrap_or_default();
        if number == 0 { DEFAULT_PARALLELISM } else { number }
    };
    let is_on = |flag: &str| given.try_get_one::<bool>(flag).ok().flatten().copied().unwrap_or_default();
    Ok(TestRequest {
        test_dir,
        variables: variable_arguments(given),
        selection: TestSelection::default(),
        verbose: given.on("verbose"),
        parallelism: at_least_one("parallelism"),
        run_parallelism: at_least_one("run-parallelism"),
        parallel_files: is_on("parallel-files"),
        deferral_allowed: is_on("allow-deferral"),
        recursive: is_on("recursive"),
        update_snapshots: is_on("update-snapshots"),
        coverage: false,
        watch: None,
        cleanup: None,
    })
}

/// An error after which no help is offered.
fn without_hint(problem: Diagnostic, json: bool) -> ArgsError {
    let diagnostics = Diagnostics::from(problem);
    if json { ArgsError::Json(diagnostics) } else { ArgsError::Diagnostics { diagnostics, hint: false } }
}

/// Whether a path stays in the folder that it is relative to, by its text.
fn is_local(path: &Path) -> bool {
    let mut depth = 0_i64;
    for part in path.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
        if depth < 0 {
            return false;
        }
    }
    !path.as_os_str().is_empty()
}

fn selection(given: &ArgMatches, problems: &mut Diagnostics) -> TestSelection {
    let shard = given.text("shard").and_then(|text| {
        let shard = shard(&text);
        if shard.is_none() {
            problems.push(bad_value("shard", text));
        }
        shard
    });
    TestSelection { filters: given.texts("filter"), last_failed: given.on("last-failed"), shard }
}

/// `1/4`: the first of four parts.
fn shard(text: &str) -> Option<(usize, usize)> {
    let (part, count) = text.split_once('/')?;
    let (part, count) = (part.parse().ok()?, count.parse().ok()?);
    (1..=count).contains(&part).then_some((part, count))
}

fn coverage(given: &ArgMatches, problems: &mut Diagnostics) -> Vec<CoverageOutput> {
    let mut outputs = Vec::new();
    for text in given.texts("coverage") {
        match coverage_output(&text) {
            Some(output) => outputs.push(output),
            None => problems.push(bad_value("coverage", text)),
        }
    }
    outputs
}

/// `lcov:coverage.info`; tables may go to standard output.
fn coverage_output(text: &str) -> Option<CoverageOutput> {
    if text == flags::WITHOUT_VALUE {
        return Some(CoverageOutput { format: CoverageFormat::Table, file: None });
    }
    let (name, file) = text.split_once(':').map_or((text, None), |(name, file)| (name, Some(file)));
    let format = CoverageFormat::named(name)?;
    let file = file.filter(|file| !file.is_empty()).map(PathBuf::from);
    (format == CoverageFormat::Table || file.is_some()).then_some(CoverageOutput { format, file })
}

fn watch(given: &ArgMatches, problems: &mut Diagnostics) -> Option<Watch> {
    let text = given.text("watch")?;
    match text.as_str() {
        flags::WITHOUT_VALUE => Some(Watch::Harmless),
        "all" => Some(Watch::All),
        "false" => None,
        _ => {
            problems.push(bad_value("watch", text));
            None
        }
    }
}

fn bad_value(name: &str, value: String) -> Diagnostic {
    Diagnostic::error(BAD_FLAGS, FlagError::Value { name: name.to_owned(), value }.to_string())
}

#[cfg(test)]
mod tests {
    use ops::interface::options::VariableArgument;

    use super::*;

    fn parsed(args: &[&str]) -> Result<Test, ArgsError> {
        parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    fn parsed_cleanup(args: &[&str]) -> Result<Test, ArgsError> {
        parse_cleanup(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn flags_become_a_request() {
        let test = parsed(&[
            "-filter=a.tftest.hcl",
            "-filter",
            "run:x*",
            "-verbose",
            "-var=a=1",
            "-var-file",
            "f",
            "-parallelism=3",
            "-run-parallelism=0",
            "-shard=2/4",
            "-last-failed",
            "-parallel-files",
            "-recursive",
            "-update-snapshots",
            "-allow-deferral",
            "-watch=all",
            "-coverage",
            "-coverage=lcov:a:b",
            "-durations=5",
            "-junit-xml=o.xml",
            "-report=github",
            "word",
        ]);
        let test = test.unwrap();
        let request = &test.request;
        assert_eq!(request.selection.filters, ["a.tftest.hcl", "run:x*"]);
        assert_eq!((request.selection.shard, request.selection.last_failed), (Some((2, 4)), true));
        let variables = [VariableArgument::Value("a=1".into()), VariableArgument::File("f".into())];
        assert_eq!(request.variables, variables);
        assert_eq!((request.parallelism, request.run_parallelism), (3, DEFAULT_PARALLELISM));
        assert!(request.verbose && request.parallel_files && request.recursive && request.deferral_allowed);
        assert!(request.update_snapshots && request.coverage && request.cleanup.is_none());
        assert_eq!(request.watch, Some(Watch::All));
        let lcov = CoverageOutput { format: CoverageFormat::Lcov, file: Some("a:b".into()) };
        assert_eq!(test.coverage, [CoverageOutput { format: CoverageFormat::Table, file: None }, lcov]);
        assert_eq!((test.durations, test.junit, test.reports_to_github), (5, Some("o.xml".into()), true));
        let plain = parsed(&[]).unwrap();
        assert_eq!((plain.request.test_dir.as_str(), plain.request.parallelism), ("tests", DEFAULT_PARALLELISM));
        assert!(plain.request.watch.is_none() && !plain.request.coverage && !plain.json);
        assert_eq!(parsed(&["-watch"]).unwrap().request.watch, Some(Watch::Harmless));
    }

    #[test]
    fn cleanup_has_flags_of_its_own() {
        let test =
            parsed_cleanup(&["-repair", "-filter=a", "-json", "-parallelism=2", "-junit-xml=x", "word"]).unwrap();
        assert_eq!(test.request.cleanup, Some(Cleanup { repair: true }));
        assert!(test.json && test.junit.is_none());
        assert_eq!(test.request.selection.filters, ["a"]);
        assert_eq!(parsed_cleanup(&[]).unwrap().request.cleanup, Some(Cleanup { repair: false }));
        assert!(parsed_cleanup(&["-watch"]).is_err());
    }

    /// The texts of the flags that the reference has are its own.
    #[test]
    fn errors_say_what_is_wrong() {
        let cases: &[(&[&str], &str, bool, bool)] = &[
            (&["-nope"], "flag provided but not defined: -nope", true, false),
            (&["-parallelism=x"], "invalid value \"x\" for flag -parallelism: parse error", true, false),
            (&["-shard=5/4"], "invalid value \"5/4\" for flag -shard: parse error", true, false),
            (&["-shard=0/4"], "invalid value \"0/4\" for flag -shard: parse error", true, false),
            (&["-coverage=lcov"], "invalid value \"lcov\" for flag -coverage: parse error", true, false),
            (&["-coverage=html:x"], "invalid value \"html:x\" for flag -coverage: parse error", true, false),
            (&["-watch=some"], "invalid value \"some\" for flag -watch: parse error", true, false),
            (&["-report=gitlab"], "invalid value \"gitlab\" for flag -report: parse error", true, false),
            (&["-json", "-report=github"], "The -json and -report options are mutually exclusive.", true, false),
            (&["-repair"], "The -repair flag is only valid for the 'test cleanup' command.", false, false),
            (
                &["-cloud-run=a/b/c"],
                "Terrane runs tests on this machine only: the -cloud-run option is not supported. Nothing was run.",
                false,
                false,
            ),
            (
                &["-json", "-test-directory=../x"],
                "The testing directory must be a relative path pointing to a directory local to the configuration directory.",
                false,
                true,
            ),
        ];
        for (args, expected, expected_hint, expected_json) in cases {
            let (diagnostics, hint, json) = match parsed(args).unwrap_err() {
                ArgsError::Diagnostics { diagnostics, hint } => (diagnostics, hint, false),
                ArgsError::Json(diagnostics) => (diagnostics, false, true),
                other => unreachable!("{other:?}"),
            };
            let details: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.detail.as_str()).collect();
            assert_eq!((details, hint, json), (vec![*expected], *expected_hint, *expected_json), "{args:?}");
        }
    }

    #[test]
    fn folders_of_tests_are_below_the_module() {
        let cases =
            [("tests", true), ("a/b", true), ("a/../b", true), (".", true), ("..", false), ("a/../../b", false)];
        for (path, expected) in cases.into_iter().chain([("/a", false), ("", false)]) {
            assert_eq!(is_local(Path::new(path)), expected, "{path}");
        }
    }
}
