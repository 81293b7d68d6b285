//! Distinguished names: from the `subject` block, to DER, from DER, as text.
//!
//! `text` owns the notation of RFC 2253, `strings` the string types. A name that is read keeps the attributes that the
//! provider knows apart from the others, because certificates are only issued with these. Never knows whose name it is.

mod strings;
mod text;

use super::der::oid::{self, Oid};
use super::der::read::Reader;
use super::der::{tag, write};
use super::x509_error::X509Error;

/// The `subject` block of a configuration. Empty texts and absent ones differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    pub common_name: Option<String>,
    pub organization: Option<String>,
    pub organizational_unit: Option<String>,
    pub street_address: Option<Vec<String>>,
    pub locality: Option<String>,
    pub province: Option<String>,
    pub country: Option<String>,
    pub postal_code: Option<String>,
    pub serial_number: Option<String>,
    pub email_address: Option<String>,
}

/// A distinguished name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The values of `LISTED`, in that order.
    lists: [Vec<String>; LISTED.len()],
    common_name: String,
    serial_number: String,
    /// Attributes without a place of their own: whole values in DER.
    others: Vec<Attribute>,
    /// Whether there is nothing at all, not even an empty list.
    is_blank: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Attribute {
    oid: Vec<u32>,
    value: Vec<u8>,
    is_issued: bool,
}

/// The attributes with many values, in the order in which they are written.
const LISTED: [&Oid; 7] = [
    oid::COUNTRY,
    oid::PROVINCE,
    oid::LOCALITY,
    oid::STREET_ADDRESS,
    oid::POSTAL_CODE,
    oid::ORGANIZATION,
    oid::ORGANIZATIONAL_UNIT,
];

impl From<&Subject> for Name {
    fn from(subject: &Subject) -> Name {
        let one = |value: &Option<String>| value.iter().cloned().collect::<Vec<_>>();
        let lists = [
            one(&subject.country),
            one(&subject.province),
            one(&subject.locality),
            subject.street_address.clone().unwrap_or_default(),
            one(&subject.postal_code),
            one(&subject.organization),
            one(&subject.organizational_unit),
        ];
        let email = subject.email_address.iter().map(|address| Attribute {
            oid: oid::EMAIL_ADDRESS.to_vec(),
            value: write::element(tag::IA5_STRING, address.as_bytes()),
            is_issued: true,
        });
        let mut name = Name {
            lists,
            common_name: subject.common_name.clone().unwrap_or_default(),
            serial_number: subject.serial_number.clone().unwrap_or_default(),
            others: email.collect(),
            is_blank: false,
        };
        // An empty list of street addresses counts, an empty common name does not.
        let has_list = subject.street_address.is_some() || name.lists.iter().any(|list| !list.is_empty());
        let has_text = !name.common_name.is_empty() || !name.serial_number.is_empty();
        name.is_blank = !has_list && !has_text && name.others.is_empty();
        name
    }
}

/// How strictly texts of a name are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// As in certificates: every value is a text.
    Certificate,
    /// As in requests: values of other kinds are ignored.
    Request,
}

impl Name {
    /// The name of a certificate without a subject.
    pub fn blank() -> Name {
        Name::from(&Subject::default())
    }

    /// Whether the name says nothing, so that no authority may have it.
    pub fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Reads an RDNSequence. The error is Go's.
    pub fn from_der(der: &[u8], strictness: Strictness) -> Result<Name, X509Error> {
        let invalid = || X509Error::Invalid("RDNSequence");
        let mut sequence = Reader::new(der).sequence().ok_or_else(invalid)?;
        let mut name = Name { is_blank: true, ..Name::default() };
        while !sequence.is_empty() {
            let mut set = sequence.contents(tag::SET).map(Reader::new).ok_or_else(invalid)?;
            while !set.is_empty() {
                let mut attribute = set.sequence().ok_or(X509Error::Invalid("RDNSequence: invalid attribute"))?;
                let oid =
                    attribute.object_identifier().ok_or(X509Error::Invalid("RDNSequence: invalid attribute type"))?;
                let value = attribute.any().ok_or(X509Error::Invalid("RDNSequence: invalid attribute value"))?;
                name.is_blank = false;
                match strings::decode(value.tag, value.contents) {
                    Ok(text) => name.add(oid, text),
                    Err(error) if strictness == Strictness::Certificate || error.is_in_text => {
                        return Err(X509Error::NameValue(error.detail));
                    }
                    Err(_) => {}
                }
            }
        }
        Ok(name)
    }

    fn add(&mut self, oid: Vec<u32>, text: String) {
        match &oid[..] {
            oid::COMMON_NAME => self.common_name = text,
            oid::SERIAL_NUMBER => self.serial_number = text,
            other => match LISTED.iter().position(|listed| *listed == other) {
                Some(at) => self.lists[at].push(text),
                None => self.others.push(Attribute { value: write::text(&text), oid, is_issued: false }),
            },
        }
    }

    /// The RDNSequence: values of one attribute share an element, attributes that were read and not known are left out.
    pub fn to_der(&self) -> Vec<u8> {
        let known = self.known().map(|(oid, values)| {
            write::set_of(values.iter().map(|value| attribute(oid, &write::text(value))).collect())
        });
        let others = self.others.iter().filter(|other| other.is_issued);
        let others = others.map(|other| write::set_of(vec![attribute(&other.oid, &other.value)]));
        write::sequence(&[&known.chain(others).collect::<Vec<_>>().concat()])
    }

    /// The known attributes that have values, in the order in which they are written.
    fn known(&self) -> impl Iterator<Item = (&'static Oid, &[String])> {
        let lists = LISTED.into_iter().zip(self.lists.iter().map(Vec::as_slice)).filter(|(_, list)| !list.is_empty());
        let texts = [(oid::COMMON_NAME, &self.common_name), (oid::SERIAL_NUMBER, &self.serial_number)];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        lists.chain(texts.map(|(oid, text)| (oid, std::slice::from_ref(text))))
    }
}

fn attribute(oid: &Oid, value: &[u8]) -> Vec<u8> {
    write::sequence(&[&write::object_identifier(oid), value])
}
