// SPDX-License-Identifier: Apache-2.0
// Atomic functions in their three scopes: device (no suffix), _block, _system. All return the old value. They map to
// clang's builtins, so that the address space is inferred and PTX says atom.global or atom.shared.
#ifndef WARPLENS_CUDA_ATOMICS_H
#define WARPLENS_CUDA_ATOMICS_H

#define WL_ATOM static __device__ inline __attribute__((always_inline))
typedef unsigned long long warplens_ull;

// suffix of the function, infix of the builtin
#define WL_ATOMICS(scope, s)                                                                                           \
  WL_ATOM int atomicAdd##scope(int* p, int v) { return __nvvm_atom_##s##add_gen_i(p, v); }                             \
  WL_ATOM unsigned atomicAdd##scope(unsigned* p, unsigned v) { return __nvvm_atom_##s##add_gen_i((int*)p, (int)v); }   \
  WL_ATOM warplens_ull atomicAdd##scope(warplens_ull* p, warplens_ull v) {                                             \
    return __nvvm_atom_##s##add_gen_ll((long long*)p, (long long)v);                                                   \
  }                                                                                                                    \
  WL_ATOM float atomicAdd##scope(float* p, float v) { return __nvvm_atom_##s##add_gen_f(p, v); }                       \
  WL_ATOM double atomicAdd##scope(double* p, double v) { return __nvvm_atom_##s##add_gen_d(p, v); }                    \
  WL_ATOM int atomicSub##scope(int* p, int v) { return __nvvm_atom_##s##add_gen_i(p, (int)(0u - (unsigned)v)); }       \
  WL_ATOM unsigned atomicSub##scope(unsigned* p, unsigned v) {                                                         \
    return __nvvm_atom_##s##add_gen_i((int*)p, (int)(0u - v));                                                         \
  }                                                                                                                    \
  WL_ATOM int atomicExch##scope(int* p, int v) { return __nvvm_atom_##s##xchg_gen_i(p, v); }                           \
  WL_ATOM unsigned atomicExch##scope(unsigned* p, unsigned v) { return __nvvm_atom_##s##xchg_gen_i((int*)p, (int)v); } \
  WL_ATOM warplens_ull atomicExch##scope(warplens_ull* p, warplens_ull v) {                                            \
    return __nvvm_atom_##s##xchg_gen_ll((long long*)p, (long long)v);                                                  \
  }                                                                                                                    \
  WL_ATOM float atomicExch##scope(float* p, float v) {                                                                 \
    return __builtin_bit_cast(float, __nvvm_atom_##s##xchg_gen_i((int*)p, __builtin_bit_cast(int, v)));                \
  }                                                                                                                    \
  WL_ATOM int atomicMin##scope(int* p, int v) { return __nvvm_atom_##s##min_gen_i(p, v); }                             \
  WL_ATOM long long atomicMin##scope(long long* p, long long v) { return __nvvm_atom_##s##min_gen_ll(p, v); }          \
  WL_ATOM int atomicMax##scope(int* p, int v) { return __nvvm_atom_##s##max_gen_i(p, v); }                             \
  WL_ATOM long long atomicMax##scope(long long* p, long long v) { return __nvvm_atom_##s##max_gen_ll(p, v); }          \
  WL_ATOM unsigned atomicInc##scope(unsigned* p, unsigned v) { return __nvvm_atom_##s##inc_gen_ui(p, v); }             \
  WL_ATOM unsigned atomicDec##scope(unsigned* p, unsigned v) { return __nvvm_atom_##s##dec_gen_ui(p, v); }             \
  WL_ATOM int atomicCAS##scope(int* p, int cmp, int v) { return __nvvm_atom_##s##cas_gen_i(p, cmp, v); }               \
  WL_ATOM unsigned atomicCAS##scope(unsigned* p, unsigned cmp, unsigned v) {                                           \
    return __nvvm_atom_##s##cas_gen_i((int*)p, (int)cmp, (int)v);                                                      \
  }                                                                                                                    \
  WL_ATOM warplens_ull atomicCAS##scope(warplens_ull* p, warplens_ull cmp, warplens_ull v) {                           \
    return __nvvm_atom_##s##cas_gen_ll((long long*)p, (long long)cmp, (long long)v);                                   \
  }                                                                                                                    \
  WL_ATOMIC_BITS(scope, s, And, and)                                                                                   \
  WL_ATOMIC_BITS(scope, s, Or, or)                                                                                     \
  WL_ATOMIC_BITS(scope, s, Xor, xor)

#define WL_ATOMIC_BITS(scope, s, Name, op)                                                                        \
  WL_ATOM int atomic##Name##scope(int* p, int v) { return __nvvm_atom_##s##op##_gen_i(p, v); }                    \
  WL_ATOM unsigned atomic##Name##scope(unsigned* p, unsigned v) {                                                 \
    return __nvvm_atom_##s##op##_gen_i((int*)p, (int)v);                                                          \
  }                                                                                                               \
  WL_ATOM long long atomic##Name##scope(long long* p, long long v) { return __nvvm_atom_##s##op##_gen_ll(p, v); } \
  WL_ATOM warplens_ull atomic##Name##scope(warplens_ull* p, warplens_ull v) {                                     \
    return __nvvm_atom_##s##op##_gen_ll((long long*)p, (long long)v);                                             \
  }

WL_ATOM unsigned atomicMin(unsigned* p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
WL_ATOM unsigned atomicMax(unsigned* p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
WL_ATOM warplens_ull atomicMin(warplens_ull* p, warplens_ull v) { return __nvvm_atom_min_gen_ull(p, v); }
WL_ATOM warplens_ull atomicMax(warplens_ull* p, warplens_ull v) { return __nvvm_atom_max_gen_ull(p, v); }
// clang 19 has builtins for these too, and makes the signed instruction of them.
#define WL_UNSIGNED_ATOMIC(name, s, op, T, type, r)                                                     \
  WL_ATOM T name(T* p, T v) {                                                                           \
    T old;                                                                                              \
    asm volatile("atom." #s "." #op "." #type " %0, [%1], %2;" : "=" r(old) : "l"(p), r(v) : "memory"); \
    return old;                                                                                         \
  }
#define WL_UNSIGNED_ATOMICS(scope, s)                                   \
  WL_UNSIGNED_ATOMIC(atomicMin_##scope, s, min, unsigned, u32, "r")     \
  WL_UNSIGNED_ATOMIC(atomicMax_##scope, s, max, unsigned, u32, "r")     \
  WL_UNSIGNED_ATOMIC(atomicMin_##scope, s, min, warplens_ull, u64, "l") \
  WL_UNSIGNED_ATOMIC(atomicMax_##scope, s, max, warplens_ull, u64, "l")
WL_UNSIGNED_ATOMICS(block, cta)
WL_UNSIGNED_ATOMICS(system, sys)
#undef WL_UNSIGNED_ATOMICS
#undef WL_UNSIGNED_ATOMIC

WL_ATOMICS(, )
WL_ATOMICS(_block, cta_)
WL_ATOMICS(_system, sys_)
#undef WL_ATOMICS
#undef WL_ATOMIC_BITS

WL_ATOM unsigned short atomicCAS(unsigned short* p, unsigned short cmp, unsigned short v) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(cmp), "h"(v) : "memory");
  return old;
}

#undef WL_ATOM
#endif
