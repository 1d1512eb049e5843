# --data of run and verify: data sets and files in one word, what they train on, and what is said of words that are neither.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
quick='--backend host --db r.db --batch 2 --steps 2 --warmup 0 --quiet'

cat >four.lua <<'EOF'
return nn.model("four", function(m)
  local logits = nn.dense{ units = 3 }(m:input("x", { 4 }))
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, m:input("label", {}, "i32")))
end)
EOF
cat >named.lua <<'EOF'
return nn.model("named", function(m)
  local logits = nn.dense{ units = 10 }(nn.flatten(m:input("f4", { 4, 3 })))
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, m:input("y_i8", {}, "i32")))
end)
EOF
cp "$MGB_SOURCE_DIR/tests/golden/data/stored.npz" .
printf 'a,b,c,d,kind\n1,2,3,4,x\n2,3,4,5,y\n3,4,5,6,z\n4,5,6,7,x\n' >four.csv
sed 1d four.csv | tr , ';' >bare.csv
gzip -k four.csv
for i in 1 2 3 4 5 6 7 8 9; do echo "the rain fell in torrents, $i times in all, on a dark and stormy night"; done >night.txt
gzip -k night.txt

# What a run of such a word has stored as its data, without the digest of a file.
reads() { # wanted, words...
    wanted=$1
    shift
    command_line="mgbench run $*"
    # shellcheck disable=SC2086
    mgbench run "$@" $quick >"$work/out" 2>&1
    same 'exit code' 0 $? # what went wrong is in the file
    same 'the data of the run' "$wanted" \
        "$(ask 'SELECT data FROM run ORDER BY id DESC LIMIT 1' | sed 's/^"//;s/"$//;s/ ([0-9a-f]*)//')"
}
reads 'csv four.csv label=kind x=1:4' ./four.lua --data four.csv:x=1:4,label=kind
reads 'csv four.csv.gz label=kind x=a:c,d' ./four.lua --data four.csv.gz:label=kind,x=a:c+d
reads 'csv bare.csv label=5 x=1:4 no header separator ;' ./four.lua --data 'bare.csv:x=1:4,label=5,header=no,separator=;'
reads 'npz stored.npz' ./named.lua --data stored.npz
reads 'npz stored.npz f4=f8 y_i8=y_u1' ./named.lua --data stored.npz:f4=f8,y_i8=y_u1
language='lstm_lm --option small=true'
# shellcheck disable=SC2086
{
    reads 'text night.txt char, rows of the model'"'"'s length for the first input and label' $language --data night.txt
    reads 'text night.txt.gz word, rows of the model'"'"'s length for the first input and label vocabulary 20' \
        $language --data night.txt.gz:words,vocabulary=20
    reads 'text northanger-abbey.txt.gz word, rows of 7 for the first input and label vocabulary 20' \
        $language --option seq=7 --option small=false --option vocabulary=20 --option units=8 --option embedding=8 \
        --data text:word,seq=7,vocabulary=20
}
reads 'jsonl snli-sample.jsonl for the first input, the second, label vocabulary 40' \
    snli_bilstm --option small=true --data jsonl:vocabulary=40
reads 'digits test' digits_cnn --data digits:test
reads 'random, seed 3' digits_cnn --data random:seed=3

refused() { # message, words...
    message=$1
    shift
    # shellcheck disable=SC2086
    expect 2 '' "mgbench: $message" mgbench run "$@" $quick
}
kinds='random, digits, mnist, a file .txt, .jsonl, .csv (or these with .gz) or .npz expected'
refused "data: 'minst' is no data set (did you mean 'mnist'?) and no file whose end tells its kind: $kinds; another is said as text:file=minst" \
    digits_cnn --data minst
refused "data: 'x.dat' is no data set and no file whose end tells its kind: $kinds; another is said as text:file=x.dat" \
    digits_cnn --data x.dat:words
refused "data: which columns of 'four.csv' are which input? As four.csv:x=1:4,label=species" ./four.lua --data four.csv
refused "data: csv: header: yes or no expected, got 'maybe'" ./four.lua --data four.csv:x=1:4,label=kind,header=maybe
refused "data: text: NAME=VALUE or char or chars or word or words expected, got 'lines'" lstm_lm --data night.txt:lines
refused "cannot open 'none.txt': No such file or directory" lstm_lm --data none.txt
refused "cannot open 'none.npz': No such file or directory" ./four.lua --data none.npz
refused "mgb.data.digits: unknown option 'file'" digits_cnn --data digits:file=x
refused "data: digits: split is given twice" digits_cnn --data digits:train,test
expect 2 '' "mgbench: --epochs: random data has no end; give --steps, or --data mnist, digits or a file" \
    mgbench run digits_cnn --data random:seed=3 --epochs 1

command_line='mgbench verify'
mgbench verify ./four.lua --backend host --db r.db --data four.csv:x=1:4,label=kind --gpus 2 --batch 1 --steps 2 \
    --against --cpu-merge=no >"$work/out" 2>&1
same 'exit code' 0 $?
finish
