// SPDX-License-Identifier: Apache-2.0
// Errors: names, words, and each thread's last one. An error of a call is remembered until cudaGetLastError takes it;
// the error of a faulted kernel stays with the device (device.h), and every call that meets it remembers it again. So
// after a fault cudaGetLastError gives the error once, then success, then the error again after the next call (as an
// H200).
#include "cuda/entry.h"

namespace warplens::cuda {
namespace {

thread_local cudaError_t t_last = cudaSuccess;

struct Words {
  cudaError_t error;
  const char *name, *text;
};
constexpr Words kWords[] = {
#define ERROR(error, text) {error, #error, text},
#include "cuda/errors.def"
#undef ERROR
};

const Words* words_of(cudaError_t error) {
  for (const Words& w : kWords)
    if (w.error == error) return &w;
  return nullptr;
}

}  // namespace

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) t_last = error;
  return error;
}

}  // namespace warplens::cuda

using namespace warplens::cuda;

cudaError_t cudaGetLastError(void) { return std::exchange(t_last, cudaSuccess); }
cudaError_t cudaPeekAtLastError(void) { return t_last; }
const char* cudaGetErrorName(cudaError_t error) {
  const Words* w = words_of(error);
  return w ? w->name : "unknown error number";
}
const char* cudaGetErrorString(cudaError_t error) {
  const Words* w = words_of(error);
  return w ? w->text : "unknown error number";
}
