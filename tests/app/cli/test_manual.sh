# The man page has no fault, by the tools that are here; the completions are read by their shells, and bash's offers what
# fits. (reference/ecosystem.md, section 2, row 60.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
mkdir "$work/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$MGBENCH" >"$work/bin/mgbench"
chmod +x "$work/bin/mgbench"
export PATH="$work/bin:$PATH"
for kind in man bash zsh fish; do
    mgbench generate $kind "$work/mgbench.$kind" || failures=$((failures + 1))
    command_line="generate $kind"
    same 'to a file or to standard output' "$(mgbench generate $kind)" "$(cat "$work/mgbench.$kind")"
done
expect 2 '' 'mgbench: generate: one of man, bash, zsh, fish, examples, table expected' mgbench generate pdf
command_line='generate, in --help'
same 'hidden' 0 "$(mgbench --help | grep -c generate)"

# The page: what must be there, and what its readers say.
page_is_read() { # FILE
    if command -v mandoc >/dev/null; then
        same 'mandoc' '' "$(mandoc -Tlint "$1" 2>&1)"
    fi
    if command -v groff >/dev/null; then
        same 'groff' '' "$(groff -man -ww -z "$1" 2>&1)"
    fi
}
shells_read() { # FILE without its ending
    for shell in bash zsh fish; do
        command -v $shell >/dev/null || continue
        command_line="$shell -n $1"
        same 'syntax' '' "$($shell -n "$1.$shell" 2>&1)"
    done
}
command_line='the man page'
for heading in NAME SYNOPSIS DESCRIPTION COMMANDS 'PLACEMENT OPTIONS' 'EXIT STATUS' ENVIRONMENT FILES WARNINGS 'SEE ALSO'; do
    same "heading $heading" 1 "$(grep -cx "\\.SH $heading" "$work/mgbench.man")"
done
same 'every command' "$(mgbench generate table | grep -c '^command')" "$(grep -c '^\.SS mgbench' "$work/mgbench.man")"
command -v mandoc >/dev/null || command -v groff >/dev/null || echo 'neither mandoc nor groff: nobody read the page'
page_is_read "$work/mgbench.man"
shells_read "$work/mgbench"

# What bash offers at the end of a line, in one line.
cat >"$work/offer" <<'SH'
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
_${2%% *}
printf '%s\n' "${COMPREPLY[*]}"
SH
offers() { # line, wanted
    command_line="completing '$1'"
    same 'offered' "$2" "$(bash "$work/offer" "$work/${1%% *}.bash" "$1")"
}
if command -v bash >/dev/null; then
    touch here.db script.lua
    mkdir folder
    offers 'mgbench ' "$(mgbench generate table | sed -n 's/^command.\([^	]*\).*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
    offers 'mgbench comp' 'compare'
    offers 'mgbench --no' '--no-supervisor --no-color'
    offers 'mgbench -e' '-e'
    offers 'mgbench run -e' ''
    offers 'mgbench --db he' 'here.db'
    offers 'mgbench --db=he' 'here.db'
    offers 'mgbench --db here.db runs --ou' '--outcome'
    offers 'mgbench runs --outcome o' 'ok oom'
    offers 'mgbench run mn' 'mnist_cnn'
    offers 'mgbench run mlp --strat' '--strategy'
    offers 'mgbench run mlp --strategy ' 'outputs gradients allreduce independent'
    offers 'mgbench run mlp --strategy=gr' 'gradients'
    offers 'mgbench run mlp --cpu-merge=n' 'no'
    offers 'mgbench run mlp --weights-at /c' '/cpu:0'
    offers 'mgbench run mlp --weights-at /gpu:' '0 1'
    offers 'mgbench run mlp --data d' 'digits'
    offers 'mgbench run mlp --steps ' ''
    offers 'mgbench -e scr' 'script.lua'
    offers 'mgbench export --format j' 'json jsonl'
    offers 'mgbench export --out h' 'here.db'
    offers 'mgbench compare la' 'last last~1'
    offers 'mgbench compare last bas' 'baseline:'
    offers 'mgbench plot b' 'batch'
    offers 'mgbench plot batch la' 'last last~1'
    offers 'mgbench baseline ' 'set list rm'
    offers 'mgbench baseline set before la' 'last last~1'
    offers 'mgbench report fo' 'folder'
    offers 'mgbench merge here.db he' 'here.db'
    offers 'mgbench -e script.lua -- fo' 'folder'
fi

# The terminal program: the same writers, and its own table.
tui=$MGB_BUILD_DIR/mgbench-tui
if [ ! -x "$tui" ]; then
    echo 'no mgbench-tui: its manual was not looked at'
    finish
    exit
fi
for kind in man bash zsh fish; do
    "$tui" generate $kind "$work/mgbench-tui.$kind" || failures=$((failures + 1))
done
command_line='the man page of mgbench-tui'
page=$work/mgbench-tui.man
for heading in NAME SYNOPSIS DESCRIPTION OPTIONS 'PLACEMENT OPTIONS' EXAMPLES KEYS SIGNALS 'EXIT STATUS' ENVIRONMENT FILES WARNINGS 'SEE ALSO'; do
    same "heading $heading" 1 "$(grep -cx "\\.SH $heading" "$page")"
done
same 'no commands' 0 "$(grep -c -e '^\.SS' -e '^\.SH COMMANDS' "$page")"
# Every action that help tells of, and every option.
keys=$(sed -n 's/^    X([A-Z_]*, "[^"]*", "\([^"]*\)", "[^"]*", [^"]*"..*".*$/\1/p' "$MGB_SOURCE_DIR/app/tui/action.h")
same 'keys in the table' yes "$([ "$(echo "$keys" | wc -l)" -gt 40 ] && echo yes)"
sed -n '/^\.SH KEYS/,/^\.SH SIGNALS/p' "$page" | sed 's/\\-/-/g' >"$work/keys"
same 'keys on the page' "$(echo "$keys" | wc -l)" "$(grep -c '^\.B ' "$work/keys")"
for option in $("$tui" generate table | awk -F'\t' '$1 == "flag" { print $3 }'); do
    same "option $option" yes "$(sed 's/\\-/-/g' "$page" | grep -q "^\.B $option" && echo yes)"
done
# What the README and the manual start is among its examples, each of which is tried (tests/screens/test_examples.c).
"$tui" generate examples | awk -F'\t' '{ print $NF }' >"$work/tried"
for file in README.md scripts/README.md; do
    grep '^    mgbench-tui ' "$MGB_SOURCE_DIR/$file" | sed 's/^    //; s/   *[^ ].*//' >"$work/told"
    same "examples in $file" yes "$([ -s "$work/told" ] && echo yes)"
    same "examples in $file that are not tried" '' "$(grep -vxF -f "$work/tried" "$work/told")"
done
page_is_read "$page"
shells_read "$work/mgbench-tui"
if command -v bash >/dev/null; then
    offers 'mgbench-tui ml' 'mlp'
    offers 'mgbench-tui mlp ' ''
    offers 'mgbench-tui --screen p' 'plan'
    offers 'mgbench-tui mlp --screen=p' 'plan'
    offers 'mgbench-tui --keep' '--keep-running'
    offers 'mgbench-tui mlp --strategy gr' 'gradients'
    offers 'mgbench-tui --db he' 'here.db'
    offers 'mgbench-tui --opt' '--optimizer --option'
fi
finish
