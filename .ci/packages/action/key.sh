# The input `key` of the action. To be sourced.
# shellcheck shell=sh

# Prints the path of the key that INPUT_KEY names or is; nothing if it is empty.
key_file() {
    case ${INPUT_KEY:-} in
    '') ;;
    *"-----BEGIN PGP PUBLIC KEY BLOCK-----"*)
        printf '%s\n' "$INPUT_KEY" >"$RUNNER_TEMP/terrane-release-key.asc"
        printf '%s\n' "$RUNNER_TEMP/terrane-release-key.asc"
        ;;
    *) printf '%s\n' "$INPUT_KEY" ;;
    esac
}
