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

# From the bottom up: an area, its package, and a crate of a higher layer.
areas='
derive terrane-derive terrane_value
value terrane-value terrane_protocol
logging terrane-logging terrane_value
protocol terrane-protocol terrane_sdk
sdk terrane-sdk terrane_sdk_acceptance
acceptance terrane-sdk-acceptance base
gotext gotext base
base base net
net net lang
lang lang model
model model engine
engine engine plugin
encryption encryption backend
plugin plugin backend
install install backend
backend backend ops
render render ops
builtin builtin ops
ops ops cli
cli cli terrane
'
failed=0
while read -r area package upper; do
    [ -n "$area" ] || continue
    root=src/$area/lib.rs
    cp "$root" kept
    printf '\nuse %s as _wrong;\n' "$upper" >>"$root"
    if cargo check --quiet --locked -p "$package" >out 2>&1; then
        echo "$area: \`use $upper\` compiles" >&2
        failed=1
    elif grep -q "unresolved import \`$upper\`\|can't find crate for\|no \`$upper\` in the root\|no external crate \`$upper\`" out; then
        echo "$area: \`use $upper\` does not compile"
    else
        echo "$area: another error:" >&2
        head -n 20 out >&2
        failed=1
    fi
    cp kept "$root"
done <<<"$areas"
exit $failed
