# cmake -DSOURCE=dir -DOUT=file -P commit.cmake: writes the commit of a clone into a header, as MGB_COMMIT, "" where there is
# none; changes may be on top ("-dirty"). The file is left alone if nothing changed.
set(commit "")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND ${git} --no-optional-locks -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(text "#define MGB_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${OUT})
    file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
    file(WRITE ${OUT} "${text}")
endif()
