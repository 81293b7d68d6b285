//! What `login` and `logout` show.

use base::name::PROGRAM;
use ops::login::{LoginEvent, Source, TokenStorage, Welcome};
use render::text::style::Style;

use super::lines::Lines;

/// Shows an event to people, and each of its paragraphs to programs.
pub fn show(lines: &Lines, event: &LoginEvent) {
    lines.each(|output| {
        if let LoginEvent::Done { warnings, .. } = event {
            output.finish(warnings.clone());
        }
        let style = output.console.style;
        match output.is_stream() {
            true => {
                let text = event_text(event, &Style { colour: false, ..style });
                paragraphs(&text).iter().for_each(|paragraph| output.say(paragraph));
            }
            false => output.console.print(&event_text(event, &style)),
        }
    });
}

fn event_text(event: &LoginEvent, style: &Style) -> String {
    match event {
        LoginEvent::Wanted { host, source, place } => wanted(host, *source, place),
        LoginEvent::TokensPage { host, url, opened } => {
            format!("{}{}{}", rule(), page("tokens", host, url, *opened), rule())
        }
        LoginEvent::TokenWanted { place } => token_wanted(place),
        LoginEvent::PasswordWanted => {
            format!(
                "{}{PROGRAM} must temporarily use your password to request an API token.\nThis password will NOT be saved locally.\n\n",
                rule()
            )
        }
        LoginEvent::LoginPage { host, url, opened } => {
            let waits = format!("{PROGRAM} will now wait for the host to signal that login was successful.\n\n");
            format!("{}{waits}", page("login", host, url, *opened))
        }
        LoginEvent::User(name) => format!("\nRetrieved token for user {}\n\n", style.bold(printable(name))),
        LoginEvent::Done { welcome, .. } => format!("{}{}", rule(), welcome_text(style, welcome)),
        LoginEvent::Removing { host, place } => removing(host, place),
        LoginEvent::Removed { host } => {
            success(style, &format!("{PROGRAM} has removed the stored API token for {host}.")) + "\n\n"
        }
        LoginEvent::NothingStored { host } => format!("No credentials for {host} are stored.\n\n"),
    }
}

/// The paragraphs of a text, each in one line and without its full stop; rules between them are left out.
fn paragraphs(text: &str) -> Vec<String> {
    let one_line = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = text.split("\n\n").map(one_line).filter(|line| !line.chars().all(|c| c == '-'));
    lines.map(|line| line.strip_suffix('.').map(str::to_owned).unwrap_or(line)).collect()
}

fn rule() -> String {
    format!("\n{}\n\n", "-".repeat(81))
}

fn success(style: &Style, text: &str) -> String {
    style.fill("[green][bold]Success![reset] [bold]{}[reset]", &[&text])
}

fn wanted(host: &str, source: Source, place: &TokenStorage) -> String {
    let by = if source == Source::Page { "your browser" } else { "OAuth" };
    let mut text = format!("{PROGRAM} will request an API token for {host} using {by}.\n\n");
    if source == Source::Code {
        text += "This will work only if you are able to use a web browser on this computer to\ncomplete a login process. If not, you \
                 must obtain an API token by another\nmeans and configure it in the CLI configuration manually.\n\n";
    }
    text + &match place {
        TokenStorage::Helper(name) => format!(
            "If login is successful, {PROGRAM} will store the token in the configured\n{name:?} credentials helper for use by \
             subsequent commands.\n\n"
        ),
        TokenStorage::File(path) => format!(
            "If login is successful, {PROGRAM} will store the token in plain text in\nthe following file for use by subsequent \
             commands:\n    {}\n\n",
            path.display()
        ),
        TokenStorage::Nowhere => String::new(),
    }
}

fn page(what: &str, host: &str, url: &str, opened: bool) -> String {
    match opened {
        true => format!(
            "{PROGRAM} must now open a web browser to the {what} page for {host}.\n\nIf a browser does not open this automatically, open \
             the following URL to proceed:\n    {url}\n\n"
        ),
        false => format!("Open the following URL to access the {what} page for {host}:\n    {url}\n\n"),
    }
}

fn token_wanted(place: &TokenStorage) -> String {
    let text = "Generate a token using your browser, and copy-paste it into this prompt.\n\n".to_owned();
    text + &match place {
        TokenStorage::Helper(name) => format!(
            "{PROGRAM} will store the token in the configured {name:?} credentials helper\nfor use by subsequent commands.\n\n"
        ),
        TokenStorage::File(path) => format!(
            "{PROGRAM} will store the token in plain text in the following file\nfor use by subsequent commands:\n    {}\n\n",
            path.display()
        ),
        TokenStorage::Nowhere => String::new(),
    }
}

fn removing(host: &str, place: &TokenStorage) -> String {
    match place {
        TokenStorage::Helper(name) => {
            format!("Removing the stored credentials for {host} from the configured\n{name:?} credentials helper.\n\n")
        }
        TokenStorage::File(path) => {
            format!("Removing the stored credentials for {host} from the following file:\n    {}\n\n", path.display())
        }
        TokenStorage::Nowhere => String::new(),
    }
}

fn welcome_text(style: &Style, welcome: &Welcome) -> String {
    match welcome {
        Welcome::Message(text) => format!("{}\n", marked(style, text)),
        Welcome::Default => success(style, "Logged in to HCP Terraform") + "\n",
        Welcome::Enterprise(host) => success(style, &format!("Logged in to Terraform Enterprise ({host})")) + "\n\n",
        Welcome::Other(host) => {
            let text = "[green][bold]Success![reset] [bold]{} has obtained and saved an API token.[reset]\n\nThe new API \
                        token will be used for any future {} command that must make\nauthenticated requests to {}.\n";
            style.fill(text, &[&PROGRAM, &PROGRAM, host]) + "\n"
        }
    }
}

/// What a host says is shown without what terminals obey.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// A text whose styles a host marks: `[bold]this[reset]`. Marks that are not known are text.
fn marked(style: &Style, text: &str) -> String {
    style.fill(&printable(text), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_receive_paragraphs() {
        let text = event_text(&LoginEvent::NothingStored { host: "a.example".into() }, &Style::plain());
        assert_eq!(paragraphs(&text), ["No credentials for a.example are stored"]);
        let text = format!("{}One\nline.\n\nTwo:\n    lines\n{}", rule(), rule());
        assert_eq!(paragraphs(&text), ["One line", "Two: lines"]);
    }

    #[test]
    fn marks_become_styles() {
        let coloured = Style { colour: true, bare: false, ..Style::plain() };
        let text = "[bold][green]Hi![reset] [x] \u{1b}[2Jthere";
        assert_eq!(marked(&Style::plain(), text), "Hi! [x] [2Jthere");
        assert_eq!(marked(&coloured, text), "\u{1b}[1m\u{1b}[32mHi!\u{1b}[0m [x] [2Jthere\u{1b}[0m");
        assert_eq!(marked(&coloured, ""), "");
    }
}
