# Copies C with comments, characters and the inside of strings blanked out, line for line; #include lines keep their
# names. Lines that continue a preprocessor line are blanked, so that braces in macros do not count.
FNR == 1 { in_comment = 0; in_macro = 0 }
{
    line = $0
    if (!in_comment && !in_macro && line ~ /^[ \t]*#[ \t]*include/) {
        print line
        next
    }
    out = ""
    n = length(line)
    for (i = 1; i <= n; i++) {
        c = substr(line, i, 1)
        two = substr(line, i, 2)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i++ }
        } else if (two == "/*") { in_comment = 1; i++; out = out " " }
        else if (two == "//") break
        else if (c == "\"" || c == "'") {
            out = out c
            for (i++; i <= n && substr(line, i, 1) != c; i++)
                if (substr(line, i, 1) == "\\") i++
            out = out c
        } else out = out c
    }
    continues = line ~ /\\$/
    macro = in_macro || line ~ /^[ \t]*#/
    if (macro && in_macro) out = ""
    in_macro = macro && continues
    print out
}
