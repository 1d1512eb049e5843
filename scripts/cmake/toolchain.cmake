# Compiler settings that hold for the whole tree.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The CUDA plugin links the same static rooms and takes the program's own copy where there is one (one message buffer,
# one log sink), so code is position independent and programs export their symbols.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_ENABLE_EXPORTS ON)

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(MGB_CCACHE ccache)
mark_as_advanced(MGB_CCACHE)
if(MGB_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER ${MGB_CCACHE})
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${MGB_CCACHE})
endif()

# Arithmetic must not depend on the compiler's mood: no fused multiply-add unless written as fmaf.
set(MGB_C_FLAGS -ffp-contract=off -fno-omit-frame-pointer
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings)
if(MGB_WERROR)
    list(APPEND MGB_C_FLAGS -Werror)
endif()

add_compile_definitions(_GNU_SOURCE)
add_compile_options("$<$<COMPILE_LANGUAGE:C>:${MGB_C_FLAGS}>")
if(MGB_SANITIZE)
    add_compile_options("$<$<COMPILE_LANGUAGE:C>:-fsanitize=${MGB_SANITIZE};-fno-sanitize-recover=all>")
    add_link_options(-fsanitize=${MGB_SANITIZE})
endif()
