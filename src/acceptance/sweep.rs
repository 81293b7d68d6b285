//! Sweepers: delete the objects that failed tests left in a service.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use super::error::Error;

type Sweeping = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Deletes the left objects of one type.
///
/// ```
/// use terrane_sdk_acceptance::Sweeper;
/// let notes = Sweeper::new("todo_note", |region: String| async move {
///     // List the notes of the region whose titles begin with "test-", and delete them.
///     Ok::<(), std::io::Error>(())
/// });
/// let lists = Sweeper::new("todo_list", |_| async { Ok::<(), String>(()) }).after(["todo_note"]);
/// ```
#[derive(Clone)]
pub struct Sweeper {
    name: String,
    dependencies: Vec<String>,
    sweep: Arc<dyn Fn(String) -> Sweeping + Send + Sync>,
}

impl fmt::Debug for Sweeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweeper")
            .field("name", &self.name)
            .field("dependencies", &self.dependencies)
            .finish_non_exhaustive()
    }
}

impl Sweeper {
    /// `sweep` is called once for each region.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Sweeper;
    /// let sweeper = Sweeper::new("todo_note", |_region| async { Ok::<(), String>(()) });
    /// ```
    pub fn new<F, T, E>(name: impl Into<String>, sweep: F) -> Sweeper
    where
        F: Fn(String) -> T + Send + Sync + 'static,
        T: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display,
    {
        let sweep = move |region| -> Sweeping {
            let sweeping = sweep(region);
            Box::pin(async move { sweeping.await.map_err(|error| error.to_string()) })
        };
        Sweeper { name: name.into(), dependencies: Vec::new(), sweep: Arc::new(sweep) }
    }

    /// Names sweepers that run before this one, also if only this one is selected.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Sweeper;
    /// let sweeper = Sweeper::new("todo_list", |_| async { Ok::<(), String>(()) }).after(["todo_note"]);
    /// ```
    #[must_use]
    pub fn after(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Sweeper {
        self.dependencies.extend(names.into_iter().map(Into::into));
        self
    }
}

/// Which sweepers run, and where.
///
/// ```
/// use terrane_sdk_acceptance::SweepOptions;
/// let options = SweepOptions::parse(["-sweep=eu,us", "-sweep-run", "todo_note"]).unwrap().unwrap();
/// assert_eq!(options.regions, ["eu", "us"]);
/// assert_eq!(options.names, ["todo_note"]);
/// assert!(!options.allow_failures);
/// assert!(SweepOptions::parse(["--nocapture"]).unwrap().is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepOptions {
    /// The regions, in the order in which they are swept.
    pub regions: Vec<String>,
    /// The sweepers to run, with those that they depend on; empty: all.
    pub names: Vec<String>,
    /// Goes on after a failure.
    pub allow_failures: bool,
}

impl SweepOptions {
    /// Reads `-sweep REGIONS`, `-sweep-run NAMES` and `-sweep-allow-failures`; lists are separated by commas. None without `-sweep`.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::SweepOptions;
    /// assert!(SweepOptions::parse(["-sweep"]).is_err());
    /// ```
    pub fn parse(arguments: impl IntoIterator<Item = impl Into<String>>) -> Result<Option<SweepOptions>, Error> {
        let mut options = SweepOptions::default();
        let mut unknown = None;
        let mut arguments = arguments.into_iter().map(Into::into);
        while let Some(argument) = arguments.next() {
            let (flag, value) = match argument.split_once('=') {
                Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
                None => (argument, None),
            };
            let flag = flag.strip_prefix('-').unwrap_or(&flag);
            match flag.strip_prefix('-').unwrap_or(flag) {
                "sweep" => options.regions = words(flag, value.or_else(|| arguments.next()))?,
                "sweep-run" => options.names = words(flag, value.or_else(|| arguments.next()))?,
                "sweep-allow-failures" => options.allow_failures = value.is_none_or(|value| value == "true"),
                _ => unknown = Some(flag.to_owned()),
            }
        }
        match unknown {
            // Arguments for other tests of the same run.
            _ if options.regions.is_empty() => Ok(None),
            Some(flag) => Err(Error::new(format!("unknown argument {flag:?}"))),
            None => Ok(Some(options)),
        }
    }
}

fn words(flag: &str, value: Option<String>) -> Result<Vec<String>, Error> {
    let value = value.unwrap_or_default();
    let words: Vec<String> =
        value.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    if words.is_empty() { Err(Error::new(format!("the flag {flag:?} needs a value"))) } else { Ok(words) }
}

/// All sweepers of a provider.
///
/// Run them by a test target without a harness: `[[test]] name = "sweep" harness = false` in `Cargo.toml`, and
/// `cargo test --test sweep -- -sweep eu`.
///
/// ```no_run
/// use terrane_sdk_acceptance::{Sweeper, Sweepers};
///
/// fn main() -> std::process::ExitCode {
///     Sweepers::new([Sweeper::new("todo_note", |_region| async { Ok::<(), String>(()) })]).main()
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sweepers {
    by_name: BTreeMap<String, Sweeper>,
    duplicate: Option<String>,
}

impl Sweepers {
    /// Sweepers with different names.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Sweeper, Sweepers};
    /// let sweepers = Sweepers::new([Sweeper::new("todo_note", |_region| async { Ok::<(), String>(()) })]);
    /// ```
    pub fn new(sweepers: impl IntoIterator<Item = Sweeper>) -> Sweepers {
        let mut all = Sweepers::default();
        for sweeper in sweepers {
            if let Some(earlier) = all.by_name.insert(sweeper.name.clone(), sweeper) {
                all.duplicate = Some(earlier.name);
            }
        }
        all
    }

    /// Runs the sweepers that the arguments of the process select, and reports on standard error. Does nothing without `-sweep`.
    /// Returns the exit code for `main`: a failure if one of them failed.
    ///
    /// ```no_run
    /// # use terrane_sdk_acceptance::Sweepers;
    /// fn main() -> std::process::ExitCode {
    ///     Sweepers::new([]).main()
    /// }
    /// ```
    pub fn main(&self) -> ExitCode {
        let report = |line: &str| drop(writeln!(std::io::stderr(), "{line}"));
        let result = SweepOptions::parse(std::env::args().skip(1)).and_then(|options| {
            let Some(options) = options else {
                report("sweepers: skipped: name regions with -sweep");
                return Ok(());
            };
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
            let runtime = runtime.map_err(|error| Error::new(format!("cannot start: {error}")))?;
            runtime.block_on(self.run(&options, report))
        });
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                report(&error.to_string());
                ExitCode::FAILURE
            }
        }
    }

    /// Runs sweepers one after the other: region by region, dependencies first. `report` gets a line for each.
    ///
    /// Fails if a sweeper fails, before anything runs if a name is unknown or if dependencies are circular. With
    /// `allow_failures` the others run nevertheless, and the error names all that failed.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Sweeper, SweepOptions, Sweepers};
    /// async fn sweep() -> Result<(), terrane_sdk_acceptance::Error> {
    ///     let sweepers = Sweepers::new([Sweeper::new("todo_note", |_region| async { Ok::<(), String>(()) })]);
    ///     let options = SweepOptions { regions: vec!["eu".to_owned()], ..SweepOptions::default() };
    ///     sweepers.run(&options, |line| println!("{line}")).await
    /// }
    /// ```
    pub async fn run(&self, options: &SweepOptions, mut report: impl FnMut(&str)) -> Result<(), Error> {
        let order = self.order(&options.names)?;
        let mut failures = Vec::new();
        for region in &options.regions {
            for sweeper in &order {
                report(&format!("{region}: {}", sweeper.name));
                if let Err(error) = (sweeper.sweep)(region.clone()).await {
                    failures.push(format!("{region}: {} failed: {error}", sweeper.name));
                    if !options.allow_failures {
                        return Err(Error::new(failures.concat()));
                    }
                }
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(Error::new(failures.join("\n"))) }
    }

    /// The selected sweepers and their dependencies, each after those that it depends on.
    fn order(&self, names: &[String]) -> Result<Vec<&Sweeper>, Error> {
        if let Some(name) = &self.duplicate {
            return Err(Error::new(format!("there are two sweepers named {name:?}")));
        }
        let mut ordered = Vec::new();
        let selected: Vec<&String> =
            if names.is_empty() { self.by_name.keys().collect() } else { names.iter().collect() };
        for name in selected {
            self.visit(name, &mut Vec::new(), &mut ordered)?;
        }
        Ok(ordered)
    }

    /// `path`: the sweepers that led here, each of which depends on the next.
    fn visit<'s>(&'s self, name: &str, path: &mut Vec<String>, ordered: &mut Vec<&'s Sweeper>) -> Result<(), Error> {
        if ordered.iter().any(|sweeper| sweeper.name == name) {
            return Ok(());
        }
        if let Some(start) = path.iter().position(|earlier| earlier == name) {
            let cycle = [&path[start..], &[name.to_owned()]].concat();
            return Err(Error::new(format!("sweepers depend on each other: {}", cycle.join(" -> "))));
        }
        let Some(sweeper) = self.by_name.get(name) else {
            let user = path.last().map_or(String::new(), |user| format!(", which {user:?} depends on"));
            return Err(Error::new(format!("there is no sweeper named {name:?}{user}")));
        };
        path.push(name.to_owned());
        for dependency in &sweeper.dependencies {
            self.visit(dependency, path, ordered)?;
        }
        path.pop();
        ordered.push(sweeper);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweeper(name: &'static str, after: &[&str]) -> Sweeper {
        let sweep = move |region: String| async move {
            if region == "bad" && name != "c" { Err(format!("no {name}")) } else { Ok(()) }
        };
        Sweeper::new(name, sweep).after(after.iter().copied())
    }

    fn options(arguments: &[&str]) -> SweepOptions {
        SweepOptions::parse(arguments.iter().copied()).unwrap().unwrap()
    }

    /// What ran, and the error.
    async fn sweep(sweepers: &Sweepers, arguments: &[&str]) -> (String, String) {
        let mut lines = Vec::new();
        let result = sweepers.run(&options(arguments), |line| lines.push(line.to_owned())).await;
        (lines.join(", "), result.err().map(|error| error.to_string()).unwrap_or_default())
    }

    #[tokio::test]
    async fn dependencies_run_first() {
        let all =
            Sweepers::new([sweeper("a", &["b", "c"]), sweeper("b", &["c"]), sweeper("c", &[]), sweeper("d", &[])]);
        let cases: [(&[&str], &str, &str); 5] = [
            (&["-sweep=eu"], "eu: c, eu: b, eu: a, eu: d", ""),
            (&["-sweep", "eu, us", "-sweep-run=b"], "eu: c, eu: b, us: c, us: b", ""),
            (&["--sweep=bad", "-sweep-run", "a"], "bad: c, bad: b", "bad: b failed: no b"),
            (
                &["-sweep=bad", "-sweep-run=a", "-sweep-allow-failures"],
                "bad: c, bad: b, bad: a",
                "bad: b failed: no b\nbad: a failed: no a",
            ),
            (&["-sweep=eu", "-sweep-run=x"], "", "there is no sweeper named \"x\""),
        ];
        for (arguments, ran, error) in cases {
            assert_eq!(sweep(&all, arguments).await, (ran.to_owned(), error.to_owned()), "{arguments:?}");
        }
    }

    #[tokio::test]
    async fn wrong_dependencies_are_errors() {
        let cases = [
            (
                vec![sweeper("a", &["b"]), sweeper("b", &["c"]), sweeper("c", &["b"])],
                "sweepers depend on each other: b -> c -> b",
            ),
            (vec![sweeper("a", &["a"])], "sweepers depend on each other: a -> a"),
            (vec![sweeper("a", &["b"])], "there is no sweeper named \"b\", which \"a\" depends on"),
            (vec![sweeper("a", &[]), sweeper("a", &[])], "there are two sweepers named \"a\""),
        ];
        for (sweepers, message) in cases {
            assert_eq!(sweep(&Sweepers::new(sweepers), &["-sweep=eu"]).await, (String::new(), message.to_owned()));
        }
    }

    #[test]
    fn arguments_are_read_only_with_regions() {
        let parse = |arguments: &[&str]| SweepOptions::parse(arguments.iter().copied());
        assert_eq!(parse(&["--nocapture", "filter"]).unwrap(), None);
        assert!(parse(&["-sweep=eu", "-sweep-runs=a"]).is_err() && parse(&["-sweep"]).is_err());
        assert!(!options(&["-sweep=eu", "-sweep-allow-failures=false"]).allow_failures);
    }
}
