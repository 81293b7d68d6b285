#!/bin/sh
# Writes src/model/version/releases.txt: the stable releases of Terraform and OpenTofu whose language is complete in Terrane, the oldest
# first. Reads the tags of their repositories with git, over the network.
#
#   tests/record_releases.sh LAST_MINOR_OF_TERRAFORM LAST_MINOR_OF_OPENTOFU      for example: 17 13
set -eu
table="$(dirname "$0")/../src/model/version/releases.txt"

# releases NAME REPOSITORY FIRST_MINOR LAST_MINOR
releases() {
    git ls-remote --tags --refs "https://github.com/$2" 'v1.*' |
        sed -n 's|.*refs/tags/v\(1\.[0-9]*\.[0-9]*\)$|\1|p' |
        awk -F. -v first="$3" -v last="$4" '$2 + 0 >= first && $2 + 0 <= last' |
        sort -t. -k2,2n -k3,3n |
        sed "s/^/$1 /"
}

{
    releases terraform hashicorp/terraform 0 "$1"
    releases tofu opentofu/opentofu 6 "$2"
} > "$table.new"
mv "$table.new" "$table"
