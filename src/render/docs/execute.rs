//! Running a template: the values of fields, and the functions.

use std::collections::BTreeMap;

use super::plain::plain;
use super::template::{Operand, Pipeline, Template, TemplateError, TemplateNode};

/// A value in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    Text(String),
    Number(i64),
    Bool(bool),
    List(Vec<Data>),
    Fields(BTreeMap<&'static str, Data>),
}

impl From<&str> for Data {
    fn from(text: &str) -> Data {
        Data::Text(text.to_owned())
    }
}

/// Reads a file of the project by its path. The error is a text for people.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// The text that a template makes of its fields.
pub fn execute(
    template: &Template,
    fields: BTreeMap<&'static str, Data>,
    read: ReadFile<'_>,
) -> Result<String, TemplateError> {
    let root = Data::Fields(fields);
    let mut out = String::new();
    Run { root: &root, read }.nodes(&template.0, &root, &mut out)?;
    Ok(out)
}

/// A file as a block of code. The error is a text for people.
pub fn code_block(language: &str, path: &str, read: ReadFile<'_>) -> Result<String, String> {
    let content = read(path)?;
    match content.trim() {
        "" => Err(format!("the file {path} is empty")),
        content => Ok(format!("```{language}\n{content}\n```")),
    }
}

/// Text with a prefix before each line.
pub fn prefix_lines(prefix: &str, text: &str) -> String {
    text.split('\n').map(|line| format!("{prefix}{line}")).collect::<Vec<_>>().join("\n")
}

impl Data {
    fn is_true(&self) -> bool {
        match self {
            Data::Text(text) => !text.is_empty(),
            Data::Number(number) => *number != 0,
            Data::Bool(value) => *value,
            Data::List(list) => !list.is_empty(),
            Data::Fields(_) => true,
        }
    }

    fn to_text(&self) -> String {
        match self {
            Data::Text(text) => text.clone(),
            Data::Number(number) => number.to_string(),
            Data::Bool(value) => value.to_string(),
            Data::List(list) => format!("[{}]", list.iter().map(Data::to_text).collect::<Vec<_>>().join(" ")),
            Data::Fields(_) => "{}".to_owned(),
        }
    }
}

struct Run<'a> {
    root: &'a Data,
    read: ReadFile<'a>,
}

impl Run<'_> {
    fn nodes(&self, nodes: &[TemplateNode], dot: &Data, out: &mut String) -> Result<(), TemplateError> {
        for node in nodes {
            match node {
                TemplateNode::Text(text) => out.push_str(text),
                TemplateNode::Put(pipeline) => out.push_str(&self.pipeline(pipeline, dot)?.to_text()),
                TemplateNode::If { branches, otherwise } => {
                    let mut taken = otherwise;
                    for (condition, body) in branches {
                        if self.pipeline(condition, dot)?.is_true() {
                            taken = body;
                            break;
                        }
                    }
                    self.nodes(taken, dot, out)?;
                }
                TemplateNode::Range { over, body, otherwise } => {
                    let Data::List(list) = self.pipeline(over, dot)? else {
                        return Err(TemplateError { line: over.line, text: "range needs a list".to_owned() });
                    };
                    for element in &list {
                        self.nodes(body, element, out)?;
                    }
                    if list.is_empty() {
                        self.nodes(otherwise, dot, out)?;
                    }
                }
                TemplateNode::With { value, body, otherwise } => {
                    let value = self.pipeline(value, dot)?;
                    if value.is_true() { self.nodes(body, &value, out)? } else { self.nodes(otherwise, dot, out)? }
                }
            }
        }
        Ok(())
    }

    fn pipeline(&self, pipeline: &Pipeline, dot: &Data) -> Result<Data, TemplateError> {
        let mut result = None;
        for command in &pipeline.commands {
            let value = self.command(command, dot, result.take());
            result = Some(value.map_err(|text| TemplateError { line: pipeline.line, text })?);
        }
        Ok(result.unwrap_or_else(|| Data::from("")))
    }

    /// `piped` is the result of the command before.
    fn command(&self, command: &[Operand], dot: &Data, piped: Option<Data>) -> Result<Data, String> {
        let (first, rest) = command.split_first().ok_or("a value is missing")?;
        let Operand::Function(name) = first else {
            return match (rest, piped) {
                ([], None) => self.operand(first, dot),
                _ => Err("only functions take arguments".to_owned()),
            };
        };
        let mut arguments = rest.iter().map(|operand| self.operand(operand, dot)).collect::<Result<Vec<_>, _>>()?;
        arguments.extend(piped);
        self.call(name, &arguments)
    }

    fn operand(&self, operand: &Operand, dot: &Data) -> Result<Data, String> {
        match operand {
            Operand::Field { names, root } => {
                let mut found = if *root { self.root } else { dot };
                for name in names {
                    let next = match found {
                        Data::Fields(fields) => fields.get(name.as_str()),
                        _ => None,
                    };
                    found = next.ok_or_else(|| self.no_field(name))?;
                }
                Ok(found.clone())
            }
            Operand::Text(text) => Ok(Data::Text(text.clone())),
            Operand::Number(number) => Ok(Data::Number(*number)),
            Operand::Bool(value) => Ok(Data::Bool(*value)),
            Operand::Function(name) => self.call(name, &[]),
            Operand::Group(pipeline) => self.pipeline(pipeline, dot).map_err(|error| error.text),
        }
    }

    fn no_field(&self, name: &str) -> String {
        let known = match self.root {
            Data::Fields(fields) if !fields.is_empty() => fields.keys().map(|name| format!(".{name}")).collect(),
            _ => vec!["none".to_owned()],
        };
        format!("there is no field .{name}; the fields of this page are: {}", known.join(", "))
    }

    fn call(&self, name: &str, arguments: &[Data]) -> Result<Data, String> {
        let texts = || -> Vec<String> { arguments.iter().map(Data::to_text).collect() };
        let truth = |value: bool| Ok(Data::Bool(value));
        match (name, arguments) {
            ("and", [_, ..]) => Ok(pick(arguments, |value| !value.is_true())),
            ("or", [_, ..]) => Ok(pick(arguments, Data::is_true)),
            ("not", [value]) => truth(!value.is_true()),
            ("eq", [first, others @ ..]) if !others.is_empty() => truth(others.contains(first)),
            ("ne", [first, second]) => truth(first != second),
            ("len", [Data::List(list)]) => Ok(Data::Number(i64::try_from(list.len()).unwrap_or(i64::MAX))),
            ("len", [Data::Text(text)]) => Ok(Data::Number(i64::try_from(text.len()).unwrap_or(i64::MAX))),
            ("index", [Data::List(list), Data::Number(at)]) => {
                let found = usize::try_from(*at).ok().and_then(|at| list.get(at));
                found.cloned().ok_or_else(|| format!("index {at} of a list of {}", list.len()))
            }
            ("print", _) => Ok(Data::Text(texts().concat())),
            ("printf", [Data::Text(format), rest @ ..]) => formatted(format, rest).map(Data::Text),
            ("lower", [text]) => Ok(Data::Text(text.to_text().to_lowercase())),
            ("upper", [text]) => Ok(Data::Text(text.to_text().to_uppercase())),
            ("title", [text]) => Ok(Data::Text(title(&text.to_text()))),
            ("trimspace", [text]) => Ok(Data::from(text.to_text().trim())),
            ("plainmarkdown", [text]) => Ok(Data::Text(plain(&text.to_text()))),
            ("prefixlines", [prefix, text]) => Ok(Data::Text(prefix_lines(&prefix.to_text(), &text.to_text()))),
            ("split", [text, by]) => {
                let (text, by) = (text.to_text(), by.to_text());
                Ok(Data::List(text.split(by.as_str()).map(Data::from).collect()))
            }
            ("codefile", [language, path]) => {
                code_block(&language.to_text(), &path.to_text(), self.read).map(Data::Text)
            }
            ("tffile", [path]) => code_block("terraform", &path.to_text(), self.read).map(Data::Text),
            _ if FUNCTIONS.contains(&name) => Err(format!("wrong number or kinds of arguments for {name}")),
            _ => Err(format!("there is no function {name}; the functions are: {}", FUNCTIONS.join(", "))),
        }
    }
}

const FUNCTIONS: [&str; 18] = [
    "and",
    "codefile",
    "eq",
    "index",
    "len",
    "lower",
    "ne",
    "not",
    "or",
    "plainmarkdown",
    "prefixlines",
    "print",
    "printf",
    "split",
    "tffile",
    "title",
    "trimspace",
    "upper",
];

/// The first value that ends the choice, else the last.
fn pick(values: &[Data], ends: impl Fn(&Data) -> bool) -> Data {
    let found = values.iter().find(|value| ends(value)).or(values.last());
    found.cloned().unwrap_or(Data::Bool(false))
}

/// Each word with a capital first letter and small others.
fn title(text: &str) -> String {
    let mut in_word = false;
    let mut out = String::new();
    for c in text.chars() {
        let letter = c.is_alphanumeric() || c == '_' || c == '\'';
        match (letter, in_word) {
            (true, false) => out.extend(c.to_uppercase()),
            _ => out.extend(c.to_lowercase()),
        }
        in_word = letter;
    }
    out
}

/// `%s`, `%v`, `%d`, `%q` and `%%`.
fn formatted(format: &str, values: &[Data]) -> Result<String, String> {
    let mut values = values.iter();
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let verb = chars.next().unwrap_or_default();
        if verb == '%' {
            out.push('%');
            continue;
        }
        let value = values.next().ok_or_else(|| format!("printf {format:?} has too few arguments"))?.to_text();
        match verb {
            's' | 'v' | 'd' => out.push_str(&value),
            'q' => out.push_str(&format!("{value:?}")),
            other => return Err(format!("printf does not support %{other}")),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<String, String> {
        let fields = BTreeMap::from([
            ("Name", Data::from("todo_note")),
            ("Empty", Data::from("")),
            ("Has", Data::Bool(true)),
            ("Files", Data::List(vec![Data::from("a.tf"), Data::from("b.tf")])),
        ]);
        let read = |path: &str| match path {
            "a.tf" => Ok("\na = 1\n\n".to_owned()),
            "b.tf" => Ok(" ".to_owned()),
            _ => Err(format!("no file {path}")),
        };
        let template = Template::parse(text).map_err(|error| error.to_string())?;
        execute(&template, fields, &read).map_err(|error| error.to_string())
    }

    #[test]
    fn pages_are_filled_in() {
        let cases = [
            ("a {{ .Name }} b", "a todo_note b"),
            ("a \n {{- .Name -}} \n b", "atodo_noteb"),
            ("a {{- /* a }} comment */ -}} b{{/* x */}}.", "ab."),
            ("{{ .Name | upper | printf \"%s-%q\" \"x\" }}", "x-\"TODO_NOTE\""),
            ("{{ if .Empty }}1{{ else if .Has }}2{{ else }}3{{ end }}", "2"),
            ("{{ if or .Empty (not .Has) }}1{{ else }}3{{ end }}", "3"),
            ("{{ if and .Has (eq .Name \"x\" \"todo_note\") }}y{{ end }}", "y"),
            ("{{ range .Files }}<{{ . }} {{ $.Name }}>{{ else }}none{{ end }}", "<a.tf todo_note><b.tf todo_note>"),
            ("{{ range split .Empty \",\" }}x{{ end }}{{ with .Empty }}y{{ else }}z{{ end }}", "xz"),
            ("{{ tffile (index .Files 0) }}", "```terraform\na = 1\n```"),
            ("{{ codefile \"shell\" \"a.tf\" }}", "```shell\na = 1\n```"),
            ("{{ \"one TWO\" | title }} {{ len .Files }} {{ .Files }}", "One Two 2 [a.tf b.tf]"),
            ("{{ \"*a*\\nb\" | plainmarkdown | trimspace | prefixlines \"  \" }}", "  a\n  b"),
            ("{{ `raw \"}}\"` }}{{ \"a\\\"b\" }}", "raw \"}}\"a\"b"),
            ("{{ if ne .Name \"x\" }}{{ print 1 true }}{{ end }}", "1true"),
        ];
        for (text, expected) in cases {
            assert_eq!(run(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn errors_say_what_there_is() {
        let cases = [
            (
                "{{ .Nope }}",
                "line 1: there is no field .Nope; the fields of this page are: .Empty, .Files, .Has, .Name",
            ),
            ("\n{{ include \"x\" }}", "line 2: there is no function include; the functions are: and, codefile"),
            ("{{ lower }}", "line 1: wrong number or kinds of arguments for lower"),
            ("{{ tffile \"c.tf\" }}", "line 1: no file c.tf"),
            ("{{ tffile \"b.tf\" }}", "line 1: the file b.tf is empty"),
            ("{{ range .Name }}{{ end }}", "line 1: range needs a list"),
            ("{{ index .Files 7 }}", "line 1: index 7 of a list of 2"),
            ("{{ printf \"%x\" 1 }}", "line 1: printf does not support %x"),
            ("{{ .Name .Has }}", "line 1: only functions take arguments"),
        ];
        for (text, expected) in cases {
            let error = run(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
