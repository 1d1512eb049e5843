# The packages of mgbench under their names in Debian 12 and 13, the only list of them, and a function that installs those
# that are missing. Sourced by scripts/start and scripts/test.

packages_build='gcc libc6-dev cmake ninja-build ccache pkg-config libdnnl-dev liblua5.4-dev libsqlite3-dev libncurses-dev
    zlib1g-dev'
packages_run='sqlite3'
packages_test='libcmocka-dev libvterm-dev locales-all ncurses-term git gnuplot-nox'
# The tree is formatted by clang-format 14, which Debian 13 no longer has: there the test of the format is skipped.
packages_clang=clang
[ "$(. /etc/os-release 2>/dev/null && echo "$ID $VERSION_ID")" != 'debian 12' ] || packages_clang='clang-14 clang-format-14'

# packages_missing NAME...: those that dpkg does not show as installed.
packages_missing() {
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -q '^installed$' || echo "$package"
    done
}

# packages_need NAME...: installs what is missing. Without dpkg it trusts that everything is there: cmake will say.
packages_need() {
    command -v dpkg-query >/dev/null || return 0
    missing=$(packages_missing "$@" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            echo "missing packages: $missing; install them as root: apt-get install $missing" >&2
            return 1
        }
        as_root=sudo
    fi
    echo "installing: $missing"
    # shellcheck disable=SC2086
    packages_install $missing || { $as_root apt-get update -qq && packages_install $missing; }
}

packages_install() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
