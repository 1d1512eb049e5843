# Text files built into the program. mgb_embed(OUT target-variable PREFIX mgb_sql ROOM db FILES ...) makes, for
# schema.sql, db/mgb_sql_schema.c and .h in the generated tree, with
#     extern const char mgb_sql_schema[];          terminated by a zero
#     extern const size_t mgb_sql_schema_size;     without it
# Run with -P it is the script that writes such a pair.
if(CMAKE_SCRIPT_MODE_FILE)
    file(READ ${INPUT} bytes HEX)
    string(LENGTH "${bytes}" size)
    math(EXPR size "${size} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
    string(REGEX REPLACE "(0x[0-9a-f][0-9a-f], 0x[0-9a-f][0-9a-f], 0x[0-9a-f][0-9a-f], 0x[0-9a-f][0-9a-f], )"
           "\\1\n    " bytes "${bytes}")
    cmake_path(GET INPUT FILENAME source)
    string(TOUPPER ${SYMBOL} guard)
    file(WRITE ${OUTPUT}.h "/* Generated from ${source}. */
#ifndef ${guard}_H
#define ${guard}_H
#include <stddef.h>
extern const char ${SYMBOL}[];
extern const size_t ${SYMBOL}_size;
#endif
")
    file(WRITE ${OUTPUT}.c "/* Generated from ${source}. */
#include \"${ROOM}/${SYMBOL}.h\"
const char ${SYMBOL}[] = {
    ${bytes}0};
const size_t ${SYMBOL}_size = ${size};
")
    return()
endif()

set(MGB_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
set(MGB_GENERATED ${CMAKE_BINARY_DIR}/generated)

function(mgb_embed)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT;PREFIX;ROOM;BASE" "FILES")
    set(sources)
    foreach(file IN LISTS arg_FILES)
        cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${arg_BASE} OUTPUT_VARIABLE name)
        cmake_path(REMOVE_EXTENSION name LAST_ONLY)
        string(MAKE_C_IDENTIFIER "${arg_PREFIX}_${name}" symbol)
        set(output ${MGB_GENERATED}/${arg_ROOM}/${symbol})
        add_custom_command(
            OUTPUT ${output}.c ${output}.h
            COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DSYMBOL=${symbol} -DROOM=${arg_ROOM}
                    -P ${MGB_EMBED_SCRIPT}
            DEPENDS ${file} ${MGB_EMBED_SCRIPT}
            COMMENT "Embedding ${name}" VERBATIM)
        list(APPEND sources ${output}.c ${output}.h)
    endforeach()
    set(${arg_OUT} ${sources} PARENT_SCOPE)
endfunction()
