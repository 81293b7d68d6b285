#!/usr/bin/env bash
# Records what the formatter's golden cases expect, from the terraform on the PATH. The version that counts is 1.11.4.
set -euo pipefail
cd "$(dirname "$0")/../src/lang/syntax/fmt/cases"
export CHECKPOINT_DISABLE=1 TF_CLI_CONFIG_FILE=/dev/null
[[ $(terraform version) == *v1.11.4* ]] || { echo "terraform 1.11.4 is not on the PATH" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for case in *.in.txt; do
  name=${case%.in.txt}
  # By file, not by standard input: that would end every text with a newline.
  cp "$case" "$work/main.tf"
  terraform fmt -list=false "$work/main.tf"
  cp "$work/main.tf" "$name.out.txt"
done
git diff --stat -- .
