// SPDX-License-Identifier: Apache-2.0
// Launches each entry of loops.ptx once, for a profiler:
//   ptxas -arch=sm_90 -O3 truth/src/loops.ptx -o loops.cubin
//   g++ truth/src/loops.cpp -I$CUDA/include -L$CUDA/lib64/stubs -lcuda -o loops
//   ncu --csv --page raw --metrics l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,\
//       l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum ./loops loops.cubin truth/h200/loops.csv
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

static void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: error %d\n", what, static_cast<int>(result));
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuModuleLoad(&module, argv[1]), "cuModuleLoad");

  constexpr int kThreads = 8192;
  constexpr size_t kData = size_t{17} << 25, kOut = size_t{1} << 26;
  std::vector<unsigned> rounds(kThreads);
  unsigned state = 5;
  for (unsigned& n : rounds) {
    state = state * 1664525u + 1013904223u;
    n = (state >> 16) % 16 * 4 + (state >> 24) % 3;  // three of the four remainders, so that 2 + 1 differs from 3
  }
  CUdeviceptr n, data, out;
  check(cuMemAlloc(&n, kThreads * 4), "cuMemAlloc");
  check(cuMemAlloc(&data, kData), "cuMemAlloc");
  check(cuMemAlloc(&out, kOut), "cuMemAlloc");
  check(cuMemcpyHtoD(n, rounds.data(), kThreads * 4), "cuMemcpyHtoD");

  std::ifstream table(argv[2]);
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    const std::string name = line.substr(0, line.find(','));
    CUfunction entry;
    check(cuModuleGetFunction(&entry, module, name.c_str()), name.c_str());
    check(cuMemsetD32(data, 0x3e000000, kData / 4), "cuMemsetD32");  // 0.125f
    void* arguments[] = {&n, &data, &out};
    check(cuLaunchKernel(entry, kThreads / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");
    check(cuCtxSynchronize(), name.c_str());
  }
  return 0;
}
