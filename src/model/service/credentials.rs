//! What the user's settings say about credentials: tokens of hosts, and a program that knows more of them.

use std::collections::BTreeMap;

use base::diag::Diagnostics;
use base::secret::Secret;

use super::cli_file::{Item, Node};
use super::host::Host;

/// Tokens by host, and the program to ask for those of other hosts.
#[derive(Clone, Debug, Default)]
pub struct CredentialSettings {
    /// From the environment, which counts more than what files say.
    pub environment: BTreeMap<Host, Secret>,
    /// `credentials "host" { token = "..." }`; None: the block says that the host needs none.
    pub blocks: BTreeMap<Host, Option<Secret>>,
    pub helper: Option<CredentialHelper>,
}

/// `credentials_helper "name" { args = [...] }`: the program `terraform-credentials-NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialHelper {
    pub name: String,
    pub arguments: Vec<String>,
}

/// What a host is to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    Token(Secret),
    Nothing,
    /// Only the helper may know.
    AskHelper,
}

impl CredentialSettings {
    /// Takes `TF_TOKEN_*` variables, given without the prefix: `_` stands for a dot, `__` for a dash.
    pub fn read_environment<'a>(&mut self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
        for (name, token) in variables {
            let host = name.replace("__", "-").replace('_', ".");
            if let Ok(host) = Host::parse_any(&host) {
                self.environment.insert(host, Secret::new(token));
            }
        }
    }

    /// Takes a `credentials` block.
    pub fn read_block(&mut self, item: &Item, diagnostics: &mut Diagnostics) {
        for block in item.labelled() {
            self.read_host(&block, diagnostics);
        }
    }

    fn read_host(&mut self, item: &Item, diagnostics: &mut Diagnostics) {
        let given = item.labels.first().map_or("", String::as_str);
        let Ok(host) = Host::parse(given) else {
            diagnostics.error(format!("The credentials block for host {given:?} is invalid: not a valid hostname"), "");
            return;
        };
        let body = item.value.as_items().unwrap_or_default();
        let token = body.iter().find(|i| i.key == "token").and_then(|i| i.value.as_str());
        self.blocks.insert(host, token.map(Secret::new));
    }

    /// Takes a `credentials_helper` block; of several the first counts.
    pub fn read_helper(&mut self, item: &Item, diagnostics: &mut Diagnostics) {
        let inner = item.value.as_items().and_then(|items| items.first());
        let (name, body) = match (item.labels.first(), inner) {
            (Some(name), _) => (name.clone(), &item.value),
            (None, Some(inner)) => (inner.key.clone(), &inner.value),
            (None, None) => return,
        };
        if self.helper.is_some() {
            diagnostics.error("No more than one credentials_helper block may be specified", "");
            return;
        }
        let arguments = body.as_items().unwrap_or_default().iter().find(|i| i.key == "args");
        let arguments = arguments.map(|i| &i.value).and_then(Node::as_strings).unwrap_or_default();
        self.helper = Some(CredentialHelper { name, arguments });
    }

    pub fn of(&self, host: &Host) -> Known {
        if let Some(token) = self.environment.get(host) {
            return Known::Token(token.clone());
        }
        match self.blocks.get(host) {
            Some(Some(token)) => Known::Token(token.clone()),
            Some(None) => Known::Nothing,
            None if self.helper.is_some() => Known::AskHelper,
            None => Known::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::cli_file;

    #[test]
    fn the_environment_counts_more_than_files_and_files_more_than_the_helper() {
        let mut settings = CredentialSettings::default();
        let mut diagnostics = Diagnostics::new();
        let text = "credentials \"A.example\" { token = \"file\" }\ncredentials \"b.example\" { token = \"file\" }\n\
                    credentials_helper \"h\" { args = [\"x\"] }\n";
        for item in cli_file::parse(text).unwrap() {
            match item.key.as_str() {
                "credentials" => settings.read_block(&item, &mut diagnostics),
                _ => settings.read_helper(&item, &mut diagnostics),
            }
        }
        settings.read_environment([("a_example", "env"), ("xn____caf__dma_fr", "idn"), ("bad host", "x")]);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let known = |host: &str| settings.of(&Host::parse(host).unwrap());
        assert_eq!(known("a.example"), Known::Token(Secret::new("env")));
        assert_eq!(known("b.example"), Known::Token(Secret::new("file")));
        assert_eq!(known("café.fr"), Known::Token(Secret::new("idn")));
        assert_eq!(known("c.example"), Known::AskHelper);
        assert!(!format!("{settings:?}").contains("file"));
    }
}
