# SPDX-License-Identifier: Apache-2.0
# Every outside library comes from Debian 12; scripts/packages lists the packages. docs/dependencies.md says why each.
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(tomlplusplus 3.3 REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
set(LLVM_DIR /usr/lib/llvm-19/lib/cmake/llvm CACHE PATH "LLVM 19's CMake package")
find_package(LLVM 19.1 REQUIRED CONFIG)

# LLVM's headers are system headers, and its one shared library is linked: a static link costs 60 s an executable.
add_library(warplens_llvm INTERFACE)
target_include_directories(warplens_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(warplens_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(warplens_llvm INTERFACE LLVM)
