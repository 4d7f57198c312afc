# SPDX-License-Identifier: Apache-2.0
# Warnings are errors on GCC 12 and clang 19; sanitizers apply to every target of ours.
add_library(warplens_options INTERFACE)
target_compile_options(warplens_options INTERFACE -Wall -Wextra -Werror -fno-strict-aliasing)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12's flow-based warnings misfire on inlined libstdc++ and fmt code at -O2.
  target_compile_options(warplens_options INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
                                                    -Wno-stringop-overread -Wno-restrict -Wno-dangling-pointer)
endif()
# The reference arithmetic and the generated code are compared bit for bit: no contraction, no fast-math.
target_compile_options(warplens_options INTERFACE -ffp-contract=off)
if(WARPLENS_SANITIZE)
  string(REPLACE "," ";" _sans "${WARPLENS_SANITIZE}")
  foreach(s ${_sans})
    add_compile_options(-fsanitize=${s})
    add_link_options(-fsanitize=${s})
  endforeach()
  add_compile_options(-fno-omit-frame-pointer -fno-sanitize-recover=all)
endif()
