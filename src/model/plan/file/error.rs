//! Why a file cannot be read as a plan: the part of it that is wrong, and what is wrong with it.

use std::{error, fmt};

use base::diag::{Diagnostic, Diagnostics};
use base::name::TERRANE;
use terrane_protocol::schema::SchemaError;
use terrane_value::TypeError;
use terrane_value::msgpack::MsgpackError;

use crate::addr::Provider;
use crate::state::file::problems_text;
use crate::version::PROGRAM_VERSION;

/// Why a file is no plan that can be read. Its text ends messages about the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanFileError {
    /// The file is no zip archive.
    NotArchive,
    /// The archive has no plan.
    NotPlan,
    /// Another version of this program wrote the plan.
    OtherVersion(String),
    /// The version of Terraform's format is not the one that is known.
    UnsupportedFormat {
        found: u64,
        known: u64,
    },
    /// The table of the archive is damaged. The text is the library's.
    Archive(String),
    /// A member of the archive cannot be unpacked, or is not of its form. The text is that of a library.
    Member {
        name: String,
        why: String,
    },
    /// The archive has no member of this name.
    NoMember(&'static str),
    /// A state in the archive is empty.
    EmptyState(&'static str),
    /// The archive has the path of a configuration file without its content.
    NoConfigFile(String),
    /// The schemas have so many bytes, which is too much.
    LargeSchemas(u64),
    /// A schema is nested too deeply.
    DeepSchema,
    /// The plan is not JSON of its form.
    Json(String),
    Base64(base64::DecodeError),
    Value(MsgpackError),
    Type(TypeError),
    /// A value names a type that is not in the table of types.
    NoType(usize),
    /// A message of Protocol Buffers is malformed.
    Message,
    /// A text of such a message is not UTF-8.
    NotUtf8,
    /// A part that another reader refused, such as an address: the detail of its diagnostic counts.
    Part(Box<Diagnostic>),
    /// A state or a pattern is invalid.
    Problems(Diagnostics),
    /// A text is not what it has to be: an address, for example.
    Not {
        what: &'static str,
        text: String,
    },
    /// The address of a resource instance in a plan of Terraform is invalid.
    InvalidInstance(String),
    /// A number stands for nothing. `what` begins the message: `unknown action`.
    Number {
        what: &'static str,
        number: u64,
    },
    /// As [`PlanFileError::Number`], of what happens after an action fails.
    InvalidReaction(u64),
    /// A word stands for nothing. `what` begins the message.
    Word {
        what: &'static str,
        word: String,
    },
    /// What the plan has to have is missing, as the message says it.
    Incomplete(&'static str),
    /// No schemas of a provider are known.
    NoProvider(Provider),
    /// The provider has no schema of a type. `what`: `resource` or `action`.
    NoSchema {
        what: &'static str,
        kind: String,
    },
    /// A provider's schema cannot be read.
    Schema(SchemaError),
    /// What is wrong with the change of one object, or with one invocation of an action.
    Object {
        addr: String,
        error: Box<PlanFileError>,
    },
}

impl PlanFileError {
    /// As the error of one object.
    pub(super) fn of(self, addr: &impl fmt::Display) -> PlanFileError {
        PlanFileError::Object { addr: addr.to_string(), error: Box::new(self) }
    }

    pub(super) fn not(what: &'static str, text: &str) -> PlanFileError {
        PlanFileError::Not { what, text: text.to_owned() }
    }

    pub(super) fn number(what: &'static str, number: impl Into<u64>) -> PlanFileError {
        PlanFileError::Number { what, number: number.into() }
    }

    pub(super) fn word(what: &'static str, word: &str) -> PlanFileError {
        PlanFileError::Word { what, word: word.to_owned() }
    }

    pub(super) fn member(name: &str, why: impl fmt::Display) -> PlanFileError {
        PlanFileError::Member { name: name.to_owned(), why: why.to_string() }
    }
}

impl fmt::Display for PlanFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanFileError::NotArchive => f.write_str("zip: not a valid zip file"),
            PlanFileError::NotPlan => f.write_str("the given file is not a valid plan file"),
            PlanFileError::OtherVersion(version) => write!(
                f,
                "plan file was created by {TERRANE} {version}, but this is {PROGRAM_VERSION}; plan files cannot be transferred between different {TERRANE} versions"
            ),
            PlanFileError::UnsupportedFormat { found, known } => {
                write!(f, "unsupported plan file format version {found}; only version {known} is supported")
            }
            PlanFileError::Archive(why) | PlanFileError::Json(why) => f.write_str(why),
            PlanFileError::Member { name, why } => write!(f, "{name}: {why}"),
            PlanFileError::NoMember(name) => write!(f, "the plan has no {name}"),
            PlanFileError::EmptyState(name) => write!(f, "the plan's {name} is empty"),
            PlanFileError::NoConfigFile(path) => write!(f, "the plan lacks the configuration file {path}"),
            PlanFileError::LargeSchemas(size) => write!(f, "they have {size} bytes"),
            PlanFileError::DeepSchema => f.write_str("a schema is nested too deeply"),
            PlanFileError::Base64(error) => error.fmt(f),
            PlanFileError::Value(error) => error.fmt(f),
            PlanFileError::Type(error) => error.fmt(f),
            PlanFileError::NoType(number) => write!(f, "there is no type {number}"),
            PlanFileError::Message => f.write_str("malformed message"),
            PlanFileError::NotUtf8 => f.write_str("a text is not UTF-8"),
            PlanFileError::Part(problem) => f.write_str(&problem.detail),
            PlanFileError::Problems(problems) => f.write_str(&problems_text(problems)),
            PlanFileError::Not { what, text } => write!(f, "{text:?} is no {what}"),
            PlanFileError::InvalidInstance(text) => write!(f, "invalid resource instance address {text:?}"),
            PlanFileError::Number { what, number } => write!(f, "{what} {number}"),
            PlanFileError::InvalidReaction(number) => write!(f, "invalid reaction {number} to a failed action"),
            PlanFileError::Word { what, word } => write!(f, "{what} {word:?}"),
            PlanFileError::Incomplete(why) => f.write_str(why),
            PlanFileError::NoProvider(provider) => write!(f, "no schemas of provider {provider}"),
            PlanFileError::NoSchema { what, kind } => write!(f, "no schema of {what} type {kind:?}"),
            PlanFileError::Schema(error) => error.fmt(f),
            PlanFileError::Object { addr, error } => write!(f, "invalid plan for {addr}: {error}"),
        }
    }
}

impl error::Error for PlanFileError {}

/// The detail alone is shown.
impl From<Diagnostic> for PlanFileError {
    fn from(problem: Diagnostic) -> PlanFileError {
        PlanFileError::Part(Box::new(problem))
    }
}

impl From<Diagnostics> for PlanFileError {
    fn from(problems: Diagnostics) -> PlanFileError {
        PlanFileError::Problems(problems)
    }
}

impl From<serde_json::Error> for PlanFileError {
    fn from(error: serde_json::Error) -> PlanFileError {
        PlanFileError::Json(error.to_string())
    }
}

impl From<base64::DecodeError> for PlanFileError {
    fn from(error: base64::DecodeError) -> PlanFileError {
        PlanFileError::Base64(error)
    }
}

impl From<MsgpackError> for PlanFileError {
    fn from(error: MsgpackError) -> PlanFileError {
        PlanFileError::Value(error)
    }
}

impl From<TypeError> for PlanFileError {
    fn from(error: TypeError) -> PlanFileError {
        PlanFileError::Type(error)
    }
}

impl From<SchemaError> for PlanFileError {
    fn from(error: SchemaError) -> PlanFileError {
        PlanFileError::Schema(error)
    }
}
