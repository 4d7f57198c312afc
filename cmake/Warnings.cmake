# SPDX-License-Identifier: Apache-2.0
# Warnings are errors on GCC 12 and clang 19; sanitizers apply to every target of ours.
add_library(warplens_options INTERFACE)
target_compile_options(warplens_options INTERFACE -Wall -Wextra -Werror -fno-strict-aliasing)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12's flow-based warnings misfire on inlined libstdc++ and fmt code at -O2.
  target_compile_options(warplens_options INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
                                                    -Wno-stringop-overread -Wno-restrict -Wno-dangling-pointer)
else()
  # libstdc++ 12's stable_sort uses what it calls deprecated; clang says so at each use of ours.
  target_compile_options(warplens_options INTERFACE -Wno-deprecated-declarations)
endif()
# The reference arithmetic and the generated code are compared bit for bit: no contraction, no fast-math.
target_compile_options(warplens_options INTERFACE -ffp-contract=off)
# Kept code is found by the build that made it (docs/jit-cache.md).
add_link_options(-Wl,--build-id=sha1)
if(WARPLENS_SANITIZE)
  # One shared sanitizer runtime for tool, tests and libcudart: user programs load libcudart without being instrumented
  # themselves, so whoever starts one preloads the runtime (WARPLENS_SANITIZER_RUNTIME).
  if(WARPLENS_SANITIZE MATCHES thread)
    set(_runtime libclang_rt.tsan-${CMAKE_SYSTEM_PROCESSOR}.so)
  else()
    set(_runtime libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so)
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${_runtime} OUTPUT_VARIABLE _runtime
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(_runtime_folder ${_runtime} DIRECTORY)
  add_compile_definitions(WARPLENS_SANITIZER_RUNTIME="${_runtime}")
  # vptr needs RTTI of LLVM's classes, which Debian's LLVM has not. function reads words in front of a function, which
  # generated code has not: where it begins a page, that is a fault.
  add_compile_options(-fsanitize=${WARPLENS_SANITIZE} -fno-sanitize=vptr,function -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${WARPLENS_SANITIZE} -fno-sanitize=vptr,function -shared-libsan -Wl,-rpath,${_runtime_folder})
endif()
if(WARPLENS_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
