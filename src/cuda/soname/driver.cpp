// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 has no code of its own: see src/cuda/driver_calls.h.
