//! `-install-autocomplete` and `-uninstall-autocomplete`: the lines that the reference writes into the shells' start-up files.

use std::fs;
use std::path::{Path, PathBuf};

use base::atomic;
use base::env::{Environment, HOME, XDG_CONFIG_HOME};
use base::files::named;

use crate::args::completion::Shell;
use crate::shell_script::script;

/// What to do with the shells of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Install,
    Uninstall,
}

/// Where completion is set up for a shell of the user.
enum Setup {
    /// Lines at the end of a start-up file; the last one is completion, the others stay when it goes.
    Lines { file: PathBuf, lines: Vec<String> },
    /// A separate file.
    File { file: PathBuf, content: String },
}

/// Sets completion up for all shells that the user has start-up files of, or removes it. Gives what went wrong.
pub fn change(environment: &Environment, change: Change, command: &str, program: &Path) -> Vec<String> {
    let shells = shells(environment, command, &program.display().to_string());
    if shells.is_empty() {
        let what = if change == Change::Install { "install" } else { "uninstall" };
        return vec![format!("Did not find any shells to {what}")];
    }
    shells.iter().filter_map(|shell| shell.change(change).err()).collect()
}

fn shells(environment: &Environment, command: &str, program: &str) -> Vec<Setup> {
    let Some(home) = environment.non_empty(HOME).map(PathBuf::from) else { return Vec::new() };
    let of_bash: &[&str] = match cfg!(target_os = "macos") {
        true => &[".bash_profile"],
        false => &[".bashrc", ".bash_profile", ".bash_login", ".profile"],
    };
    let mut shells = Vec::new();
    if let Some(file) = of_bash.iter().map(|name| home.join(name)).find(|file| file.exists()) {
        shells.push(Setup::Lines { file, lines: vec![format!("complete -C {program} {command}")] });
    }
    let file = home.join(".zshrc");
    if file.exists() {
        let start = "autoload -U +X bashcompinit && bashcompinit".to_string();
        shells.push(Setup::Lines { file, lines: vec![start, format!("complete -o nospace -C {program} {command}")] });
    }
    let configuration = environment.non_empty(XDG_CONFIG_HOME).map_or_else(|| home.join(".config"), PathBuf::from);
    let fish = configuration.join("fish");
    if fish.is_dir() {
        let content = script(Shell::Fish, command, program);
        shells.push(Setup::File { file: fish.join("completions").join(format!("{command}.fish")), content });
    }
    shells
}

impl Setup {
    fn change(&self, change: Change) -> Result<(), String> {
        match (self, change) {
            (Setup::Lines { file, lines }, Change::Install) => append(file, lines),
            (Setup::Lines { file, lines }, Change::Uninstall) => remove_line(file, lines),
            (Setup::File { file, .. }, Change::Install) if file.exists() => {
                Err(format!("already installed at {}", file.display()))
            }
            (Setup::File { file, content }, Change::Install) => make(file, content),
            (Setup::File { file, .. }, Change::Uninstall) if !file.exists() => {
                Err(format!("not installed at {}", file.display()))
            }
            (Setup::File { file, .. }, Change::Uninstall) => {
                fs::remove_file(file).map_err(|e| named(e, "remove", file).to_string())
            }
        }
    }
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|e| named(e, "read", file).to_string())
}

fn write(file: &Path, content: &str) -> Result<(), String> {
    atomic::write(file, content.as_bytes()).map_err(|e| e.to_string())
}

fn append(file: &Path, lines: &[String]) -> Result<(), String> {
    let mut content = read(file)?;
    let has = |content: &str, line: &String| content.lines().any(|other| other == line);
    if lines.last().is_some_and(|line| has(&content, line)) {
        return Err(format!("already installed in {}", file.display()));
    }
    let missing: Vec<&str> = lines.iter().filter(|line| !has(&content, line)).map(String::as_str).collect();
    content.push_str(&format!("\n{}\n", missing.join("\n")));
    write(file, &content)
}

fn remove_line(file: &Path, lines: &[String]) -> Result<(), String> {
    let content = read(file)?;
    let Some(last) = lines.last().filter(|last| content.lines().any(|line| line == *last)) else {
        return Err(format!("not installed in {}", file.display()));
    };
    let kept: String = content.split_inclusive('\n').filter(|line| line.trim_end_matches('\n') != last).collect();
    write(file, &kept)
}

fn make(file: &Path, content: &str) -> Result<(), String> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|e| named(e, "create", folder).to_string())?;
    write(file, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change_in(home: &Path, what: Change) -> Vec<String> {
        let environment = Environment::of([(HOME, home.to_str().unwrap())]);
        let problems = change(&environment, what, "terrane", Path::new("/bin/terrane"));
        problems.into_iter().map(|text| text.replace(home.to_str().unwrap(), "~")).collect()
    }

    #[test]
    fn what_is_installed_can_be_removed() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        assert_eq!(change_in(home.path(), Change::Install), ["Did not find any shells to install"]);
        fs::write(at(".profile"), "# own\n").unwrap();
        fs::write(at(".zshrc"), "").unwrap();
        fs::create_dir_all(at(".config/fish")).unwrap();
        assert!(change_in(home.path(), Change::Install).is_empty());
        assert_eq!(fs::read_to_string(at(".profile")).unwrap(), "# own\n\ncomplete -C /bin/terrane terrane\n");
        let zsh = "\nautoload -U +X bashcompinit && bashcompinit\ncomplete -o nospace -C /bin/terrane terrane\n";
        assert_eq!(fs::read_to_string(at(".zshrc")).unwrap(), zsh);
        let fish = at(".config/fish/completions/terrane.fish");
        assert!(fs::read_to_string(&fish).unwrap().contains("'/bin/terrane'"));
        let again = ["already installed in ~/.profile", "already installed in ~/.zshrc"];
        let of_fish = "~/.config/fish/completions/terrane.fish";
        assert_eq!(change_in(home.path(), Change::Install)[..2], again);
        assert_eq!(change_in(home.path(), Change::Install)[2], format!("already installed at {of_fish}"));
        assert!(change_in(home.path(), Change::Uninstall).is_empty());
        assert_eq!(fs::read_to_string(at(".profile")).unwrap(), "# own\n\n");
        assert!(!fish.exists());
        let gone = ["not installed in ~/.profile", "not installed in ~/.zshrc", &format!("not installed at {of_fish}")];
        assert_eq!(change_in(home.path(), Change::Uninstall), gone);
    }
}
