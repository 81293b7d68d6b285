#!/bin/sh
# Installs terrane from a release: `sh install.sh -h` lists the options.
#
# Checks the archive's digest always, and the OpenPGP signature of the list of digests if a key is given. Writes the program in one step, the
# links of --as and the files of --cache. Everything is in functions and the last line calls them: an incomplete download of this script does nothing.
set -eu

default_version=latest
default_releases=https://github.com/terrane/terrane/releases

usage() {
    cat <<'END'
Usage: sh install.sh [options]

Installs the program terrane from a release. Needs no root. Changes no start-up file of a shell.

  --version VERSION  the release, such as 0.2.0, or latest
  --dir DIR          the folder for the program (default: ~/.local/bin)
  --as NAME          also links NAME to the program in this folder: terraform or tofu
  --key FILE         the OpenPGP public key that must have signed the release (default: $TERRANE_RELEASE_KEY)
  --target TARGET    such as linux_amd64_musl or darwin_arm64 (default: this machine's)
  --cache DIR        keeps the archive, and the serial of the index, in this folder; uses the archive that is there if its digest is listed
  --force            with the version latest: replaces a newer program
  --resolve          only prints the version and the target
  -h, --help         prints this text

Needs curl or wget, tar (on Windows: unzip), and sha256sum, shasum, sha256 or openssl; gpg if there is a key.

TERRANE_RELEASES is another address of the releases: https, or http on this machine. Files are at ADDRESS/download/vVERSION/NAME.
END
}

main() {
    version=$default_version directory='' names='' target='' cache='' resolve='' force=''
    key=${TERRANE_RELEASE_KEY:-} signer=''
    releases=${TERRANE_RELEASES:-$default_releases}
    arguments "$@"
    plain_environment
    work=$(mktemp -d "${TMPDIR:-/tmp}/terrane-install.XXXXXX") || fail "no temporary folder can be made"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' HUP INT TERM
    find_tools
    wanted=$version
    [ "$version" != latest ] || version=$(newest_version)
    own_target=$(machine_target)
    target=${target:-$own_target}
    [ -n "$target" ] || fail "there is no release for $(uname -s) on $(uname -m); name a target with --target"
    if [ -n "$resolve" ]; then
        printf '%s\n%s\n' "$version" "$target"
        return 0
    fi
    stem=terrane_${version}_$target
    case $target in
    windows_*) archive=$stem.zip program=terrane.exe ;;
    *) archive=$stem.tar.gz program=terrane ;;
    esac
    get_archive
    unpack
    put "${directory:-${HOME:?HOME is not set: name a folder with --dir}/.local/bin}"
}

arguments() {
    while [ $# != 0 ]; do
        case $1 in
        --version=* | --dir=* | --as=* | --key=* | --target=* | --cache=*)
            name=${1%%=*} value=${1#*=}
            shift
            set -- "$name" "$value" "$@"
            continue
            ;;
        --version | --dir | --as | --key | --target | --cache) [ -n "${2:-}" ] || misused "$1 needs a value" ;;
        esac
        case $1 in
        --version) version=${2#v} ;;
        --dir) directory=$2 ;;
        --as) names="$names $2" ;;
        --key) key=$2 ;;
        --target) target=$2 ;;
        --cache) cache=$2 ;;
        --resolve) resolve=yes && shift && continue ;;
        --force) force=yes && shift && continue ;;
        -h | --help) usage && exit 0 ;;
        *) misused "there is no option $1" ;;
        esac
        shift 2
    done
    # These become parts of addresses and paths.
    case $version in
    latest) ;;
    [0-9]*.[0-9]*.[0-9]*) case $version in *[!0-9A-Za-z.+-]*) misused "\"$version\" is not a version" ;; esac ;;
    *) misused "\"$version\" is not a version" ;;
    esac
    case $target in *[!a-z0-9_]*) misused "\"$target\" is not a target" ;; esac
    for name in $names; do
        case $name in terraform | tofu) ;; *) misused "--as is terraform or tofu, not \"$name\"" ;; esac
    done
    releases=${releases%/}
    case $releases in
    *@*) misused "TERRANE_RELEASES must have no user name" ;;
    https://*) protocols='=https' ;;
    http://127.0.0.1[:/]* | http://localhost[:/]* | "http://[::1]"[:/]*) protocols='=http,https' ;;
    *) misused "TERRANE_RELEASES must start with https://: $releases" ;;
    esac
    [ -z "$key" ] || [ -r "$key" ] || fail "the key $key cannot be read"
}

# The program must do what this script asks for, whatever the user has set for it.
plain_environment() {
    unset TERRANE_NAME TF_CLI_ARGS TF_CLI_ARGS_link TF_CLI_ARGS_version TF_LOG TF_LOG_CORE TF_LOG_PROVIDER TF_LOG_PATH
    export TF_CLI_CONFIG_FILE=/dev/null
}

misused() {
    printf 'error: %s\n\n' "$1" >&2
    usage >&2
    exit 2
}

fail() {
    printf 'error: %s\n' "$1" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

find_tools() {
    if has curl; then
        downloader=curl
    elif has wget; then
        downloader=wget
    else
        fail "curl or wget is needed, and neither is installed"
    fi
    for hasher in sha256sum shasum sha256 openssl none; do
        ! has "$hasher" || break
    done
    [ "$hasher" != none ] || fail "sha256sum, shasum, sha256 or openssl is needed, and none is installed"
    [ -z "$key" ] || has gpg || fail "gpg is needed to check the signature with $key, and is not installed"
}

digest() {
    case $hasher in
    sha256sum) sha256sum <"$1" ;;
    shasum) shasum -a 256 <"$1" ;;
    sha256) sha256 -q <"$1" ;;
    openssl) openssl dgst -sha256 -r <"$1" ;;
    esac | cut -d ' ' -f 1
}

# download URL FILE
download() {
    case $downloader in
    curl) curl --fail --location --silent --show-error --proto "$protocols" --retry 2 --output "$2" "$1" ;;
    wget) wget_secured "$1" "$2" ;;
    esac || fail "$1 cannot be downloaded"
}

# wget follows redirects from https to http, so what came from there is discarded. BusyBox has no option against it.
wget_secured() {
    wget -S -O "$2" "$1" 2>"$work/log" || return 1
    case $1 in https:*) ;; *) return 0 ;; esac
    ! grep -qi '^[[:space:]]*location:[[:space:]]*http:' "$work/log" || fail "$1 leads to an address without encryption"
}

# Compares the signature of a file, which is in FILE.sig, with the key.
check_signature() {
    if [ ! -d "$work/gpg" ]; then
        mkdir -m 700 "$work/gpg"
        # gpg starts no process that holds keys if this file exists.
        : >"$work/gpg/common.conf"
        gpg --homedir "$work/gpg" --batch --quiet --import "$key" 2>"$work/log" || fail "gpg does not accept the key $key: $(tail -n 1 "$work/log")"
    fi
    status=$(gpg --homedir "$work/gpg" --batch --status-fd 1 --verify "$1.sig" "$1" 2>"$work/log") ||
        fail "$(basename "$1") is not signed by the key $key: $(tail -n 1 "$work/log")"
    # Expired and revoked keys make another line than this one.
    case $status in
    *"[GNUPG:] GOODSIG "*) ;;
    *) fail "$(basename "$1") has a signature by the key $key that does not count: $(tail -n 1 "$work/log")" ;;
    esac
    # The last word is the fingerprint of the primary key.
    signer=$(printf '%s\n' "$status" | awk '$2 == "VALIDSIG" { print $NF }')
}

# The first version in the index that is neither withdrawn nor a prerelease.
newest_version() {
    index=$work/index.json
    download "$releases/latest/download/index.json" "$index"
    if [ -n "$key" ]; then
        download "$releases/latest/download/index.json.sig" "$index.sig"
        check_signature "$index"
    fi
    # shellcheck disable=SC2046 # the words are the values
    set -- $(read_index "$index")
    case $1 in 1.*) ;; *) fail "the index of versions has a format that this script does not read" ;; esac
    [ "$(printf '%s\n%s\n' "$2" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" | LC_ALL=C sort | head -n 1)" != "$2" ] ||
        fail "the index of versions was valid until $2: name a version with --version"
    [ "$3" != - ] || fail "the index of versions has no version that can be installed"
    case $3 in *[!0-9A-Za-z.+-]*) fail "the index of versions has an invalid version" ;; esac
    [ -z "$cache" ] || compare_serial "$4"
    printf '%s\n' "$3"
}

# Refuses an index that is older than the newest one that was seen with this cache and this key, and keeps its serial.
compare_serial() {
    case $1 in *[!0-9]* | ???????????????*) fail "the index of versions has an invalid serial: $1" ;; esac
    seen=$cache/terrane_index_serial${signer:+_$signer}
    last=0
    [ ! -f "$seen" ] || last=$(cat "$seen")
    case $last in '' | *[!0-9]* | ???????????????*) last=0 ;; esac
    [ "$1" -ge "$last" ] || fail "the index of versions is older than the last one: its serial is $1, and $last was seen before (in $seen)"
    mkdir -p "$cache" || fail "$cache cannot be made"
    printf '%s\n' "$1" >"$seen.$$"
    mv -f "$seen.$$" "$seen"
}

# Prints format_version, expires, the newest version and the serial of an index. `-` is for what it does not have.
read_index() {
    awk '
        function plain(token) { return substr(token, 2, length(token) - 2) }
        BEGIN { format = expires = newest = serial = "-" }
        { text = text $0 "\n" }
        END {
            while (match(text, /"([^"\\]|\\.)*"|[][{}:,]|[^][{}:," \t\r\n]+/)) {
                token = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                if (token == "{" || token == "[") {
                    if (++depth == 2) list = key
                    if (depth == 3) version = skip = ""
                } else if (token == "}" || token == "]") {
                    if (depth-- == 3 && list == "versions" && version != "" && !skip && newest == "-") newest = version
                    if (newest != "-" && format != "-" && expires != "-" && serial != "-") break
                } else if (token == ":") {
                    key = plain(last)
                } else if (last == ":") {
                    if (depth == 1 && key == "format_version") format = plain(token)
                    if (depth == 1 && key == "expires" && token != "\"\"") expires = plain(token)
                    if (depth == 1 && key == "serial") serial = token
                    if (depth == 3 && key == "version") version = plain(token)
                    if (depth == 3 && key == "prerelease" && token == "true") skip = 1
                    if (depth == 3 && key == "withdrawn" && token != "null") skip = 1
                    if (version ~ /-/) skip = 1
                }
                last = token
            }
            print format, expires, newest, serial
        }' "$1"
}

# The target of this machine; nothing if there is none.
machine_target() {
    system=$(uname -s) machine=$(uname -m) libc=''
    case $system in
    Linux)
        system=linux
        [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 64 ] || machine=''
        is_glibc || libc=_musl
        ;;
    Darwin)
        system=darwin
        # A translated shell on Apple silicon says x86_64.
        [ "$(sysctl -n hw.optional.arm64 2>/dev/null || echo 0)" != 1 ] || machine=arm64
        ;;
    FreeBSD) system=freebsd ;;
    MINGW* | MSYS* | CYGWIN*)
        system=windows
        case ${PROCESSOR_IDENTIFIER:-} in ARM*) machine=arm64 ;; esac
        ;;
    *) return 0 ;;
    esac
    case $machine in
    x86_64 | amd64) printf '%s_amd64%s\n' "$system" "$libc" ;;
    aarch64 | arm64) printf '%s_arm64%s\n' "$system" "$libc" ;;
    esac
}

is_glibc() {
    getconf GNU_LIBC_VERSION >/dev/null 2>&1 && return 0
    case $(ldd --version 2>&1 || :) in *GLIBC* | *"GNU libc"* | *"GNU C Library"*) return 0 ;; esac
    return 1
}

# Brings the archive to $work. Only the archive may come from the cache: the list of digests says whether it is the right one, so the list
# and its signature are those of the release each time.
get_archive() {
    sums=terrane_${version}_SHA256SUMS
    download "$releases/download/v$version/$sums" "$work/$sums"
    if [ -n "$key" ]; then
        download "$releases/download/v$version/$sums.sig" "$work/$sums.sig"
        check_signature "$work/$sums"
    fi
    expected=$(expected_digest)
    if [ -n "$cache" ] && [ -f "$cache/$archive" ]; then
        cp "$cache/$archive" "$work/$archive"
        [ "$(digest "$work/$archive")" != "$expected" ] || return 0
    fi
    download "$releases/download/v$version/$archive" "$work/$archive"
    [ "$(digest "$work/$archive")" = "$expected" ] || fail "$archive does not have the digest that $sums lists: it is damaged or not the released one"
    [ -n "$cache" ] || return 0
    mkdir -p "$cache" || fail "$cache cannot be made"
    cp "$work/$archive" "$cache/.$archive.$$"
    mv -f "$cache/.$archive.$$" "$cache/$archive"
}

# The digest that the list has for the archive.
expected_digest() {
    found=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$work/$sums")
    case $found in
    '') fail "release $version has no file $archive" ;;
    *[!0-9a-f]*) fail "$sums lists no single digest for $archive" ;;
    esac
    [ ${#found} = 64 ] || fail "$sums lists no SHA-256 digest for $archive"
    printf '%s\n' "$found"
}

# Unpacks the program, and nothing else.
unpack() {
    case $archive in
    *.zip)
        has unzip || fail "unzip is needed, and is not installed"
        unzip -q -o "$work/$archive" "$stem/$program" -d "$work" 2>"$work/log"
        ;;
    *)
        has tar || fail "tar is needed, and is not installed"
        tar -xzof "$work/$archive" -C "$work" "$stem/$program" 2>"$work/log"
        ;;
    esac || fail "$archive cannot be unpacked, or has no $stem/$program: $(tail -n 1 "$work/log")"
    if [ ! -f "$work/$stem/$program" ] || [ -L "$work/$stem/$program" ]; then
        fail "$stem/$program in $archive is not a file"
    fi
}

# Puts the program into a folder. What was there is replaced in one step.
put() {
    mkdir -p "$1" || fail "$1 cannot be made"
    folder=$(cd "$1" && pwd) || fail "$1 is not a folder that can be used"
    [ ! -d "$folder/$program" ] || fail "$folder/$program is a folder"
    new=$folder/.terrane-$$-$program
    trap 'rm -rf "$work"; rm -f "$new"' EXIT
    cp "$work/$stem/$program" "$new" || fail "$folder cannot be written to"
    chmod 755 "$new"
    if [ "$target" = "$own_target" ]; then
        check_start "$new"
        [ "$wanted" != latest ] || [ -n "$force" ] || check_newer "$folder/$program"
    fi
    copies=$(copies_of "$folder/$program")
    mv -f "$new" "$folder/$program" || fail "$folder/$program cannot be replaced"
    printf 'installed %s: version %s, %s, signature %s\n' "$folder/$program" "$version" "$target" \
        "$([ -n "$key" ] && echo verified || echo "not checked, because no key was given")"
    for name in $names; do
        option=''
        case " $copies " in *" $name "*) option=-force ;; esac
        "$folder/$program" link ${option:+"$option"} "$name" "$folder" || fail "the link $name was not made"
    done
    case :${PATH:-}: in
    *:"$folder":*) ;;
    *) printf 'note: %s is not in PATH\n' "$folder" ;;
    esac
}

# The program must start here and be the version that was asked for.
check_start() {
    output=$(cd "$work" && "$1" version 2>&1) || fail "the program for $target does not start here: $(printf '%s' "$output" | head -n 1)$(other_target)"
    case $output in
    *"Terrane v$version"*) ;;
    *) fail "the program in $archive is not version $version" ;;
    esac
}

# An older index, which is valid until it expires, must not bring back an older version. `latest` is never a prerelease.
check_newer() {
    [ -x "$1" ] || return 0
    there=$(cd "$work" && "$1" version 2>/dev/null </dev/null | sed -n 's/.*Terrane v\([0-9][0-9A-Za-z.+-]*\).*/\1/p' | head -n 1)
    ! is_newer "${there:-0.0.0}" "$version" ||
        fail "$1 is version $there, which is newer than $version, the newest one in the index: name a version with --version, or use --force"
}

# Whether the first version is newer than the second one, which is no prerelease.
is_newer() {
    printf '%s\n%s\n' "$1" "$2" | awk -F '[.+-]' '
        { for (part = 1; part <= 3; part++) number[NR, part] = $part + 0 }
        END {
            for (part = 1; part <= 3; part++)
                if (number[1, part] != number[2, part]) exit number[1, part] < number[2, part]
            exit 1
        }'
}

# Names of those links to make that are there as a file like the program which is replaced: Windows has these in place of symbolic links.
copies_of() {
    [ -f "$1" ] || return 0
    for name in $names; do
        link=$folder/$name${program#terrane}
        if [ -f "$link" ] && [ ! -L "$link" ] && [ "$(digest "$link")" = "$(digest "$1")" ]; then printf '%s ' "$name"; fi
    done
}

other_target() {
    case $target in
    linux_amd64 | linux_arm64) printf '; with an older or another C library, try --target %s_musl' "$target" ;;
    esac
}

main "$@"
