# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by run.sh and quickstart.sh: installs the Debian packages it is given that are not there yet.

need_packages() {
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
        "install ok installed") ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0

    if ! command -v apt-get >/dev/null; then
        echo "Not a Debian system. Install the equivalent of:$missing" >&2
        return 1
    fi
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    echo "Installing:$missing"
    install_log=$(mktemp)
    # shellcheck disable=SC2086 # words on purpose
    if ! $as_root apt-get update -qq >"$install_log" 2>&1 ||
        ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing \
            >>"$install_log" 2>&1; then
        tail -n 20 "$install_log" >&2
        echo "apt-get could not install them; its last words are above." >&2
        return 1
    fi
    rm -f "$install_log"
}

# What it takes to build the element and to run it on ordinary files.
build_packages="meson ninja-build pkg-config gcc libc6-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev \
libgstreamer-plugins-bad1.0-dev libpng-dev gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad \
gstreamer1.0-libav gstreamer1.0-plugins-base-apps"
