//! The coverage as Cobertura's XML has it, version 04: a package for each folder, a class for each file.

use std::collections::BTreeMap;
use std::fmt::Write;

use base::name::COMMAND;
use ops::interface::coverage::{CoverageCount, CoverageReport, FileCoverage};

use super::lines::{CoveredLine, line_count, lines_of};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">
";

/// A file with its lines and counts.
struct ClassEntry<'a> {
    name: &'a str,
    lines: Vec<CoveredLine<'a>>,
    rates: Rates,
}

/// How many lines, and how many sides of branches, were reached.
#[derive(Clone, Copy, Default)]
struct Rates {
    lines: CoverageCount,
    branches: CoverageCount,
}

impl Rates {
    fn with(self, other: Rates) -> Rates {
        Rates { lines: self.lines + other.lines, branches: self.branches + other.branches }
    }

    fn attributes(self) -> String {
        format!("line-rate=\"{}\" branch-rate=\"{}\"", rate(self.lines), rate(self.branches))
    }
}

/// The document. `time`: in milliseconds since the epoch.
pub fn render(report: &CoverageReport, time: i64) -> String {
    let mut packages: BTreeMap<&str, Vec<ClassEntry<'_>>> = BTreeMap::new();
    for file in &report.files {
        let folder = file.name.rsplit_once('/').map_or(".", |(folder, _)| folder);
        packages.entry(folder).or_default().push(class_of(file));
    }
    let all = sum(packages.values().flatten());
    let mut out = String::from(HEAD);
    let _ = writeln!(
        out,
        "<coverage {} lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" branches-valid=\"{}\" complexity=\"0\" \
         version=\"{COMMAND}\" timestamp=\"{time}\">",
        all.attributes(),
        all.lines.covered,
        all.lines.total,
        all.branches.covered,
        all.branches.total
    );
    out.push_str("  <sources>\n    <source>.</source>\n  </sources>\n  <packages>\n");
    packages.iter().for_each(|(folder, classes)| write_package(&mut out, folder, classes));
    out.push_str("  </packages>\n</coverage>\n");
    out
}

fn class_of(file: &FileCoverage) -> ClassEntry<'_> {
    let lines = lines_of(file);
    let rates = Rates { lines: line_count(&lines), branches: lines.iter().map(CoveredLine::branch_count).sum() };
    ClassEntry { name: &file.name, lines, rates }
}

fn sum<'a>(classes: impl Iterator<Item = &'a ClassEntry<'a>>) -> Rates {
    classes.fold(Rates::default(), |sum, class| sum.with(class.rates))
}

fn write_package(out: &mut String, folder: &str, classes: &[ClassEntry<'_>]) {
    let rates = sum(classes.iter()).attributes();
    let _ = writeln!(out, "    <package name=\"{}\" {rates} complexity=\"0\">\n      <classes>", escaped(folder));
    classes.iter().for_each(|class| write_class(out, class));
    out.push_str("      </classes>\n    </package>\n");
}

fn write_class(out: &mut String, class: &ClassEntry<'_>) {
    let (path, rates) = (escaped(class.name), class.rates.attributes());
    let name = path.rsplit('/').next().unwrap_or_default();
    let _ = writeln!(out, "        <class name=\"{name}\" filename=\"{path}\" {rates} complexity=\"0\">");
    out.push_str("          <methods/>\n          <lines>\n");
    for line in &class.lines {
        let _ = write!(out, "            <line number=\"{}\" hits=\"{}\"", line.number, u8::from(line.is_reached()));
        let CoverageCount { covered, total } = line.branch_count();
        if let Some(percent) = (covered * 100).checked_div(total) {
            let _ = write!(out, " branch=\"true\" condition-coverage=\"{percent}% ({covered}/{total})\"");
        }
        out.push_str("/>\n");
    }
    out.push_str("          </lines>\n        </class>\n");
}

/// Of nothing, everything is covered.
fn rate(count: CoverageCount) -> String {
    let share = if count.total == 0 { 1.0 } else { count.covered as f64 / count.total as f64 };
    format!("{share:.4}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::sample_coverage::sample;
    use super::*;

    #[test]
    fn folders_are_packages_and_files_are_classes() {
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage line-rate="0.6667" branch-rate="0.5000" lines-covered="4" lines-valid="6" branches-covered="4" branches-valid="8" complexity="0" version="terrane" timestamp="1795919381000">
  <sources>
    <source>.</source>
  </sources>
  <packages>
    <package name="." line-rate="0.6000" branch-rate="0.5000" complexity="0">
      <classes>
        <class name="main.tf" filename="main.tf" line-rate="0.6000" branch-rate="0.5000" complexity="0">
          <methods/>
          <lines>
            <line number="1" hits="0" branch="true" condition-coverage="0% (0/2)"/>
            <line number="3" hits="1"/>
            <line number="4" hits="1" branch="true" condition-coverage="50% (2/4)"/>
            <line number="5" hits="1" branch="true" condition-coverage="100% (2/2)"/>
            <line number="9" hits="0"/>
          </lines>
        </class>
      </classes>
    </package>
    <package name="sub" line-rate="1.0000" branch-rate="1.0000" complexity="0">
      <classes>
        <class name="out.tf" filename="sub/out.tf" line-rate="1.0000" branch-rate="1.0000" complexity="0">
          <methods/>
          <lines>
            <line number="2" hits="1"/>
          </lines>
        </class>
      </classes>
    </package>
  </packages>
</coverage>
"#;
        assert_eq!(render(&sample(), 1_795_919_381_000), expected);
        assert_eq!(escaped("a&b<\"c\">"), "a&amp;b&lt;&quot;c&quot;&gt;");
    }
}
