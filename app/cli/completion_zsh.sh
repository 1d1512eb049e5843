# What is the same in the completion of every program; PROGRAM is its name.
_PROGRAM_models()
{
    local -a found=(${${(f)"$(_call_program models mgbench models --csv 2>/dev/null)"}[2,-1]%%,*})
    _describe -t models model found
    _files -g '*.lua'
}

_PROGRAM_machines()
{
    local -a found=(${${(f)"$(_call_program machines mgbench machines --csv 2>/dev/null)"}[2,-1]%%,*})
    _describe -t machines machine found
    _files -g '*.lua'
}

_PROGRAM_runs()
{
    compadd -- last 'last~1'
    compadd -S '' -- tag: baseline: sweep:
}

