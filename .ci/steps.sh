# Steps of the scripts in this folder: their names, their times, and blocks of the README. To be sourced.

total=$SECONDS
times=()

# step NAME COMMAND...: runs a command and notes how long it took. Fails if the command fails.
step() {
    local begin=$SECONDS status
    current=$1
    shift
    printf '\n=== %s\n' "$current"
    "$@"
    status=$?
    times+=("$(minutes $((SECONDS - begin)))  $current")
    return $status
}

minutes() { printf '%3d:%02d' $(($1 / 60)) $(($1 % 60)); }

# The commands of the README in the first sh block after a line of text.
readme() {
    local commands
    commands=$(awk -v after="$1" '$0 == after { seen = 1 } /^```/ && inside { exit } inside { print } /^```sh$/ && seen { inside = 1 }' README.md)
    [ -n "$commands" ] || { echo "README.md has no sh block after the line \"$1\"" >&2; return 1; }
    printf '%s\n' "$commands"
}
