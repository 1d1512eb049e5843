# Texts of a results file that somebody else made: whatever shows them to people shows what a terminal would obey, and what
# is no UTF-8, as \x1b and such; programs get the bytes.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
small="mlp --backend host --option height=4 --option width=4 --option hidden=8 --batch 4 --steps 12 --quiet"
# shellcheck disable=SC2086
mgbench run $small --db made.db --trace 1 >/dev/null
# shellcheck disable=SC2086
mgbench run $small --db made.db --gpus 2 >/dev/null
mgbench note 1 'a ZZZZZZ note' --db made.db --quiet
mgbench tag 1 ZZZZZZt --db made.db --quiet
mgbench baseline set ZZZZZZb 1 --db made.db --quiet
mgbench seal made.db --out theirs.db --quiet
# Texts of the same length stand in the same place of the file, which has no sums of its pages.
LC_ALL=C sed "$(printf 's/ZZZZZZ/\033[2J\007\377/g')" theirs.db >hostile.db
command_line='the file'
same 'is sound' ok "$(ask 'pragma integrity_check' hostile.db)"

harmless() { # words
    command_line="mgbench $*"
    timeout 60 "$MGBENCH" "$@" --db hostile.db >"$work/out" 2>"$work/err" </dev/null
    same 'nothing for a terminal' 0 "$(cat "$work/out" "$work/err" | LC_ALL=C tr -d '\n\t' | LC_ALL=C tr '\001-\037\177\377' '!' | grep -c '!' )"
}
shown() { # how often at least
    same 'shown' yes "$([ "$(cat "$work/out" "$work/err" | grep -cF '\x1b[2J\x07\xff')" -ge "$1" ] && echo yes)"
}
harmless show 1
shown 2
harmless runs
shown 2
harmless baseline list
shown 1
harmless query 'select text from note'
shown 1
harmless export --sql 'select text from note' --format md
same 'in Markdown' 1 "$(grep -cF '| a \\x1b\[2J\\x07\\xff note |' "$work/out")"
harmless show tag:none
shown 1
harmless compare 1 2
harmless plot placement
harmless explain 1
harmless -e 'print(mgb.compare("baseline:" .. mgb.db.query("select name from baseline")[1].name, 2))'
harmless tag 1 "$(printf '\033[2Jt')"
harmless note 1 "$(printf '\033[2Jt')"
harmless baseline rm "$(printf '\033[2Jt')"
harmless "$(printf '\033[2Jt')"

command_line='for programs'
bytes=$(printf 'a \033[2J\007\377 note' | od -An -c)
same 'CSV' "$bytes" "$(mgbench query 'select text from note' --db hostile.db --csv | sed -n 2p | tr -d '\r\n' | od -An -c)"
same 'JSON' '{"text":"a \u001b[2J\u0007\ufffd note"}' "$(mgbench query 'select text from note' --db hostile.db --json)"
same 'a zero, text' 'a\x00b' "$(mgbench query "select 'a' || char(0) || 'b' as t" --db hostile.db | sed -n 2p)"
same 'a zero, JSON' '{"t":"a\u0000b"}' "$(mgbench query "select 'a' || char(0) || 'b' as t" --db hostile.db --json)"
same 'a zero, a script' 'a\x00b' "$(mgbench -e 'mgb.table{ { t = "a\0b" } }' --db none.db | sed -n 2p)"
command_line='tag --remove'
mgbench tag 1 --remove "$(printf '\033[2J\007\377t')" --db hostile.db >"$work/out" 2>"$work/err"
same 'takes off what came' 0 $?
same 'no tag is left' 0 "$(ask 'select count(*) from tag' hostile.db)"

finish
