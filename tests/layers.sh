#!/usr/bin/env bash
# Proof that an arrow upwards does not compile: adds one wrong `use` to each area in a copy, and checks that the compiler refuses it.
# Uses the target folder of the tree, or CARGO_TARGET_DIR.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git archive HEAD | tar -x -C "$copy"
cd "$copy"

# From the top down, so that what an area uses is checked already: an area, and a crate of a higher layer. All packages are checked, as
# elsewhere: for one alone, cargo would choose other features of its dependencies, and check all of them again.
areas='
cli terrane
ops cli
builtin ops
render ops
backend ops
install backend
plugin backend
encryption backend
engine plugin
model engine
lang model
net model
base net
gotext base
acceptance base
sdk terrane_sdk_acceptance
protocol terrane_sdk
logging terrane_value
value terrane_protocol
derive terrane_value
'
failed=0
cargo check --quiet --locked --workspace
while read -r area upper; do
    [ -n "$area" ] || continue
    root=src/$area/lib.rs
    cp -p "$root" kept
    printf '\nuse %s as _wrong;\n' "$upper" >>"$root"
    if cargo check --quiet --locked --workspace >out 2>&1; then
        echo "$area: \`use $upper\` compiles" >&2
        failed=1
    elif grep -q "unresolved import \`$upper\`\|can't find crate for\|no \`$upper\` in the root\|no external crate \`$upper\`" out; then
        echo "$area: \`use $upper\` does not compile"
    else
        echo "$area: another error:" >&2
        head -n 20 out >&2
        failed=1
    fi
    cp -p kept "$root"
done <<<"$areas"
exit $failed
