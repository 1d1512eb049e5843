# `cmake --install` brings the programs, their man pages and completions, the scripts and the data that they need.
set -eu
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$MGB_BUILD_DIR" --prefix "$prefix" >"$prefix/log" || { cat "$prefix/log"; exit 1; }

missing=0
need() {
    [ -e "$1" ] || { echo "not installed: ${1#"$prefix"/}"; missing=1; }
}

"$prefix/bin/mgbench" --version | grep -q '^mgbench [0-9]' || { echo 'bin/mgbench --version says nothing'; missing=1; }
for program in mgbench mgbench-tui; do
    [ -x "$MGB_BUILD_DIR/$program" ] || continue
    need "$prefix/bin/$program"
    need "$prefix/share/man/man1/$program.1"
    need "$prefix/share/bash-completion/completions/$program"
    need "$prefix/share/zsh/site-functions/_$program"
    need "$prefix/share/fish/vendor_completions.d/$program.fish"
done
grep -q '^\.TH MGBENCH 1' "$prefix/share/man/man1/mgbench.1" || { echo 'share/man/man1/mgbench.1 is no man page'; missing=1; }
if [ -f "$MGB_SOURCE_DIR/scripts/models/mnist_cnn.lua" ]; then
    (cd "$prefix" && XDG_DATA_HOME=$prefix/none bin/mgbench models) | grep -q mnist_cnn ||
        { echo "the installed program does not list mnist_cnn"; missing=1; }
fi
cd "$MGB_SOURCE_DIR/scripts"
for file in lib/*.lua models/*.lua experiments/*.lua machines/*.lua data/*; do
    [ -f "$file" ] || continue
    need "$prefix/share/mgbench/$file"
done
if [ -f "$MGB_BUILD_DIR/libmgb_cuda.so" ]; then
    [ -n "$(find "$prefix" -path '*/mgbench/libmgb_cuda.so')" ] || { echo 'not installed: the CUDA plugin'; missing=1; }
fi
exit "$missing"
