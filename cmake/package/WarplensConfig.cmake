# SPDX-License-Identifier: Apache-2.0
# find_package(Warplens): CUDA programs in a CMake project without CUDA as a language, and without a CUDA toolkit.
#
#   find_package(Warplens REQUIRED)
#   warplens_add_executable(app app.cu more.cpp [RELOCATABLE] [OPTIONS -use_fast_math ...])
#   warplens_add_test(app [NAME name] [OPTIONS --limit excessive_sectors=0 ...] [ARGUMENTS ...])
#   target_include_directories(app PRIVATE inc)        # and target_compile_definitions: also for the .cu files
#
# Warplens::cudart is the runtime with its headers, Warplens_EXECUTABLE the tool. The files lie at the same places below
# the prefix in a build tree and in an installation.
get_filename_component(_warplens_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Warplens_EXECUTABLE "${_warplens_prefix}/bin/warplens")
set(Warplens_TOOLKIT "${_warplens_prefix}/lib/warplens/toolkit")
foreach(_warplens_part "${Warplens_EXECUTABLE}" "${_warplens_prefix}/lib/warplens/libcudart.so.13" "${Warplens_TOOLKIT}/include")
  if(NOT EXISTS "${_warplens_part}")
    set(Warplens_FOUND FALSE)
    set(Warplens_NOT_FOUND_MESSAGE "this copy of Warplens is incomplete: ${_warplens_part} is missing")
    return()
  endif()
endforeach()

if(NOT TARGET Warplens::cudart)
  add_library(Warplens::cudart SHARED IMPORTED)
  set_target_properties(Warplens::cudart PROPERTIES
    IMPORTED_LOCATION "${_warplens_prefix}/lib/warplens/libcudart.so.13"
    IMPORTED_SONAME libcudart.so.13
    INTERFACE_INCLUDE_DIRECTORIES "${Warplens_TOOLKIT}/include")
endif()

# One object a .cu file, made by `warplens cc` with the target's own definitions, folders and options.
function(_warplens_object target source relocatable options object_variable)
  get_filename_component(path "${source}" ABSOLUTE)
  string(MAKE_C_IDENTIFIER "${source}" name)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.warplens/${name}.o")
  set(folders "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(standard "$<TARGET_PROPERTY:${target},CXX_STANDARD>")
  if(relocatable)
    list(APPEND options -rdc=true)
  endif()
  add_custom_command(
    OUTPUT "${object}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/${target}.warplens"
    COMMAND "${Warplens_EXECUTABLE}" cc -c "${path}" -o "${object}" -MD -MF "${object}.d" -MT "${object}"
            "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
            "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
            "$<$<BOOL:${standard}>:-std=c++${standard}>" ${options}
    MAIN_DEPENDENCY "${path}"
    DEPENDS "${Warplens_EXECUTABLE}"
    DEPFILE "${object}.d"
    COMMENT "Building CUDA object ${target}.warplens/${name}.o"
    COMMAND_EXPAND_LISTS VERBATIM)
  set(${object_variable} "${object}" PARENT_SCOPE)
endfunction()

function(warplens_add_executable target)
  cmake_parse_arguments(ARG "RELOCATABLE" "" "OPTIONS" ${ARGN})
  set(objects "")
  set(others "")
  foreach(source ${ARG_UNPARSED_ARGUMENTS})
    if(source MATCHES "\\.cu$")
      _warplens_object(${target} "${source}" ${ARG_RELOCATABLE} "${ARG_OPTIONS}" object)
      list(APPEND objects "${object}")
    else()
      list(APPEND others "${source}")
    endif()
  endforeach()
  if(ARG_RELOCATABLE)
    set(linked "${CMAKE_CURRENT_BINARY_DIR}/${target}.warplens/device_link.o")
    add_custom_command(OUTPUT "${linked}" COMMAND "${Warplens_EXECUTABLE}" cc -dlink ${objects} -o "${linked}"
      DEPENDS ${objects} "${Warplens_EXECUTABLE}" COMMENT "Linking device code of ${target}" VERBATIM)
    list(APPEND objects "${linked}")
  endif()
  add_executable(${target} ${others} ${objects})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE Warplens::cudart)
endfunction()

# A test that runs the target under `warplens run`: it fails when the program does, when a limit of the nearest
# .warplens.toml is broken, or when a number is worse than in its baseline. Beside the executable it leaves
# <name>.warplens.{json,sarif,junit.xml,md} for the steps that follow in a CI job.
#   OPTIONS: of `warplens run`; ARGUMENTS: the program's; TIMEOUT: seconds
function(warplens_add_test target)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "OPTIONS;ARGUMENTS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warplens_add_test: what is '${ARG_UNPARSED_ARGUMENTS}'? It takes NAME, TIMEOUT, OPTIONS, ARGUMENTS.")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "warplens_add_test: there is no target '${target}'")
  endif()
  if(NOT ARG_NAME)
    set(ARG_NAME ${target})
  endif()
  # The file that lies beside the sources; the executable may be anywhere.
  set(config "")
  set(folder "${CMAKE_CURRENT_SOURCE_DIR}")
  while(NOT config)
    if(EXISTS "${folder}/.warplens.toml")
      set(config --config "${folder}/.warplens.toml")
    endif()
    get_filename_component(parent "${folder}" DIRECTORY)
    if(parent STREQUAL folder)
      break()
    endif()
    set(folder "${parent}")
  endwhile()
  if(ARG_TIMEOUT)
    list(PREPEND ARG_OPTIONS --timeout ${ARG_TIMEOUT})
  endif()
  set(report "${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.warplens")
  add_test(NAME ${ARG_NAME} WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMAND "${Warplens_EXECUTABLE}" run -q ${config} --json "${report}.json" --sarif "${report}.sarif"
            --junit "${report}.junit.xml" --markdown "${report}.md" ${ARG_OPTIONS} "$<TARGET_FILE:${target}>" ${ARG_ARGUMENTS})
endfunction()
