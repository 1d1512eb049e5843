# What a program and its plugin must have been built from alike: the headers of the rooms that both hold. Their digest is
# engine/backend/mgb_contract.h in the generated tree, as MGB_CONTRACT; it is written anew when one of them changes.
# mgb_contract(targets...) lets those that exist include it. Run with -P this is the script that writes it.
if(CMAKE_SCRIPT_MODE_FILE)
    set(digests "")
    file(GLOB headers RELATIVE ${SOURCE} ${SOURCE}/engine/include/mgb/*.h ${SOURCE}/engine/backend/*.h
                                         ${SOURCE}/engine/base/*.h ${SOURCE}/engine/graph/*.h ${SOURCE}/engine/topo/*.h)
    foreach(header IN LISTS headers)
        file(SHA256 ${SOURCE}/${header} digest)
        string(APPEND digests "${header} ${digest}\n")
    endforeach()
    string(SHA256 digest "${digests}")
    string(SUBSTRING ${digest} 0 16 digest)
    file(CONFIGURE OUTPUT ${OUT} CONTENT "#define MGB_CONTRACT \"${digest}\"\n" @ONLY)
    return()
endif()

set(MGB_CONTRACT_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(mgb_contract)
    set(root ${PROJECT_SOURCE_DIR}/engine)
    file(GLOB headers CONFIGURE_DEPENDS ${root}/include/mgb/*.h ${root}/backend/*.h ${root}/base/*.h ${root}/graph/*.h
                                        ${root}/topo/*.h)
    set(out ${MGB_GENERATED}/engine/backend/mgb_contract.h)
    add_custom_command(OUTPUT ${out}.stamp BYPRODUCTS ${out}
        COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${out} -P ${MGB_CONTRACT_SCRIPT}
        COMMAND ${CMAKE_COMMAND} -E touch ${out}.stamp
        DEPENDS ${headers} ${MGB_CONTRACT_SCRIPT} COMMENT "Digest of the headers that plugins share" VERBATIM)
    add_custom_target(mgb_contract DEPENDS ${out}.stamp)
    foreach(target IN LISTS ARGN)
        if(TARGET ${target})
            add_dependencies(${target} mgb_contract)
            target_include_directories(${target} PRIVATE ${MGB_GENERATED})
        endif()
    endforeach()
endfunction()
