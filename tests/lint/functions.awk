# Lengths of the functions in C files, stripped by strip.awk, from the first line of the signature to the closing brace.
# Prints "length file:line" for each.
{
    if (depth == 0 && start == 0 && $0 !~ /^[ \t]*(#.*)?$/) start = FNR
    n = length($0)
    for (i = 1; i <= n; i++) {
        c = substr($0, i, 1)
        if (c == " " || c == "\t") continue
        if ($0 ~ /^[ \t]*#/) break
        if (c == "{") {
            if (depth == 0 && last == "\"") { last = c; start = 0; continue } # extern "C" {
            if (depth++ == 0) is_function = (last == ")")
        } else if (c == "}") {
            if (depth > 0 && --depth == 0) {
                if (is_function) print FNR - start + 1, file ":" start
                start = 0
            }
        } else if (c == ";" && depth == 0) start = 0
        last = c
    }
}
