//! The scripts that make shells ask this program for candidates.

use super::args::completion::Shell;

/// The script that makes a shell complete the command; `program` is the path of this program.
pub fn script(shell: Shell, command: &str, program: &str) -> String {
    let (text, quoted) = match shell {
        Shell::Bash => (BASH, program.replace('\'', "'\\''")),
        Shell::Zsh => (ZSH, program.replace('\'', "'\\''")),
        Shell::Fish => (FISH, program.replace('\\', "\\\\").replace('\'', "\\'")),
        Shell::PowerShell => (POWERSHELL, program.replace('\'', "''")),
    };
    text.replace("COMMAND", command).replace("PROGRAM", &format!("'{quoted}'"))
}

const BASH: &str = r#"_COMMAND_complete() {
    local IFS=$'\n'
    COMPREPLY=($(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" COMP_SHELL=bash PROGRAM))
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
        compopt -o nospace
    fi
}
complete -F _COMMAND_complete COMMAND
"#;

/// Zsh loads the file `_COMMAND` as the function of this name and calls it for the first completion of a session. A
/// script that is sourced has the name of its file there.
const ZSH: &str = r#"#compdef COMMAND
_COMMAND_complete() {
    local line
    local -a plain open
    for line in "${(@f)$(COMP_LINE="${(j: :)words[1,CURRENT-1]} $PREFIX" COMP_SHELL=zsh PROGRAM)}"; do
        [[ -z $line ]] && continue
        if [[ $line == *[/=] ]]; then
            open+=("$line")
        else
            plain+=("$line")
        fi
    done
    compadd -a plain
    compadd -S '' -a open
}
if [[ $funcstack[1] == _COMMAND ]]; then
    _COMMAND_complete "$@"
else
    compdef _COMMAND_complete COMMAND
fi
"#;

const FISH: &str = r#"function __COMMAND_complete
    set -lx COMP_LINE (commandline -cp)
    set -lx COMP_SHELL fish
    PROGRAM
end
complete -f -c COMMAND -a "(__COMMAND_complete)"
"#;

const POWERSHELL: &str = r#"Register-ArgumentCompleter -Native -CommandName COMMAND -ScriptBlock {
    param($word, $tree, $position)
    $env:COMP_LINE = $tree.ToString().PadRight($position).Substring(0, $position)
    $env:COMP_SHELL = 'powershell'
    try {
        & PROGRAM | ForEach-Object {
            $text, $about = $_ -split "`t", 2
            if (-not $about) { $about = $text }
            [System.Management.Automation.CompletionResult]::new($text, $text, 'ParameterValue', $about)
        }
    } finally {
        Remove-Item Env:COMP_LINE, Env:COMP_SHELL
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::completion::SHELLS;

    #[test]
    fn scripts_name_the_command_and_the_program() {
        for shell in SHELLS {
            let text = script(shell, "terrane", "/it's/terrane");
            assert!(!text.contains("COMMAND") && !text.contains("PROGRAM"), "{text}");
            assert!(text.contains("terrane"), "{text}");
        }
    }

    #[test]
    fn zsh_script_completes_when_its_file_is_loaded() {
        let text = script(Shell::Zsh, "terrane", "terrane");
        assert!(text.contains("if [[ $funcstack[1] == _terrane ]]; then\n    _terrane_complete"), "{text}");
    }
}
