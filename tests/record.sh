#!/usr/bin/env bash
# Records what the commands' tests expect, from the terraform on the PATH. The version that counts is 1.11.4.
set -euo pipefail
cd "$(dirname "$0")/.."
terraform version | grep -q 'v1\.11\.4' || { echo "terraform 1.11.4 is not on the PATH" >&2; exit 1; }
TERRANE_TEST_RECORD=1 cargo test --test tests commands:: -- "$@"
TERRANE_TEST_RECORD=1 cargo test --test tests providers:: -- as_the_reference
git diff --stat -- tests/commands tests/providers
