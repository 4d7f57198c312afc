// SPDX-License-Identifier: Apache-2.0
// The atomic functions of CUDA 12.8 and later that take a memory order and a thread scope: __nv_atomic_load_n,
// __nv_atomic_fetch_add and the rest (CUDA C++ Programming Guide, "Atomic Functions"). An operation is the atomic
// instruction of that scope, with the fences that its order asks for. Order and scope are constants in every program,
// so after inlining one instruction is left. Objects have 4 or 8 bytes (loads and stores: 1 and 2 as well, compare and
// exchange: 2 as well); 16 bytes are refused. The scope of a cluster acts as that of the device, which is wider.
#ifndef WARPLENS_CUDA_ORDER_ATOMICS_H
#define WARPLENS_CUDA_ORDER_ATOMICS_H

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

#if __cplusplus >= 201103L
#define WL_ATOM static __device__ inline __attribute__((always_inline))

namespace warplens_order {

WL_ATOM void fence(int scope) {
  if (scope == __NV_THREAD_SCOPE_SYSTEM)
    __threadfence_system();
  else if (scope == __NV_THREAD_SCOPE_DEVICE || scope == __NV_THREAD_SCOPE_CLUSTER)
    __threadfence();
  else
    __threadfence_block();
}
WL_ATOM void before(int order, int scope) {
  if (order >= __NV_ATOMIC_RELEASE) fence(scope);
}
WL_ATOM void after(int order, int scope) {
  if (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE) fence(scope);
}

// The type that the instruction works on, by size and signedness; float and double stay what they are.
template <unsigned Size, bool Signed>
struct Integer {};
template <>
struct Integer<2, false> {
  typedef unsigned short type;
};
template <>
struct Integer<4, false> {
  typedef unsigned type;
};
template <>
struct Integer<4, true> {
  typedef int type;
};
template <>
struct Integer<8, false> {
  typedef warplens_ull type;
};
template <>
struct Integer<8, true> {
  typedef long long type;
};
template <class T>
struct Bits {
  static_assert(sizeof(T) != 16, "Warplens has no atomic operations on objects of 16 bytes");
  typedef typename Integer<sizeof(T), false>::type type;
};
template <class T>
struct Number {
  typedef typename Integer<sizeof(T), (T(-1) < T(0))>::type type;
};
template <>
struct Number<float> {
  typedef float type;
};
template <>
struct Number<double> {
  typedef double type;
};
// Two's complement: adding has no signed form of 8 bytes and needs none.
template <class N>
struct Addend {
  typedef N type;
};
template <>
struct Addend<long long> {
  typedef warplens_ull type;
};

// Values are not deduced: a program may add an int to an unsigned object.
template <class T>
struct Same {
  typedef T type;
};

// One of the three functions of atomics.h.
#define WL_SCOPED(name, ...)                                                                              \
  (scope == __NV_THREAD_SCOPE_SYSTEM                                         ? name##_system(__VA_ARGS__) \
   : scope == __NV_THREAD_SCOPE_DEVICE || scope == __NV_THREAD_SCOPE_CLUSTER ? name(__VA_ARGS__)          \
                                                                             : name##_block(__VA_ARGS__))
#define WL_READ_MODIFY_WRITE(name, Kind, function)                      \
  template <class T>                                                    \
  WL_ATOM T name(T* p, T v, int order, int scope) {                     \
    typedef typename Kind N;                                            \
    before(order, scope);                                               \
    const N old = WL_SCOPED(function, (N*)p, __builtin_bit_cast(N, v)); \
    after(order, scope);                                                \
    return __builtin_bit_cast(T, old);                                  \
  }
WL_READ_MODIFY_WRITE(exchange, Bits<T>::type, atomicExch)
WL_READ_MODIFY_WRITE(add, Addend<typename Number<T>::type>::type, atomicAdd)
WL_READ_MODIFY_WRITE(bit_or, Bits<T>::type, atomicOr)
WL_READ_MODIFY_WRITE(bit_and, Bits<T>::type, atomicAnd)
WL_READ_MODIFY_WRITE(bit_xor, Bits<T>::type, atomicXor)
WL_READ_MODIFY_WRITE(min, Number<T>::type, atomicMin)
WL_READ_MODIFY_WRITE(max, Number<T>::type, atomicMax)
#undef WL_READ_MODIFY_WRITE

WL_ATOM unsigned short cas(unsigned short* p, unsigned short want, unsigned short with, int) {
  return atomicCAS(p, want, with);
}
template <class W>
WL_ATOM W cas(W* p, W want, W with, int scope) {
  return WL_SCOPED(atomicCAS, p, want, with);
}
#undef WL_SCOPED

}  // namespace warplens_order

WL_ATOM void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED) warplens_order::fence(scope);
}

template <class T>
WL_ATOM T __nv_atomic_load_n(const T* p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  static_assert(sizeof(T) <= 8, "Warplens has no atomic operations on objects of 16 bytes");
  if (order == __NV_ATOMIC_SEQ_CST) warplens_order::fence(scope);
  const T v = *(const volatile T*)p;
  warplens_order::after(order, scope);
  return v;
}
template <class T>
WL_ATOM void __nv_atomic_store_n(T* p, typename warplens_order::Same<T>::type v, int order,
                                 int scope = __NV_THREAD_SCOPE_SYSTEM) {
  static_assert(sizeof(T) <= 8, "Warplens has no atomic operations on objects of 16 bytes");
  warplens_order::before(order, scope);
  *(volatile T*)p = v;
}
template <class T>
WL_ATOM T __nv_atomic_exchange_n(T* p, typename warplens_order::Same<T>::type v, int order,
                                 int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return warplens_order::exchange(p, (T)v, order, scope);
}
/// `weak` never fails without need here. On failure the value found goes to *expected.
template <class T>
WL_ATOM bool __nv_atomic_compare_exchange_n(T* p, T* expected, typename warplens_order::Same<T>::type desired,
                                            bool weak, int success, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typedef typename warplens_order::Bits<T>::type W;
  (void)weak;
  const int order = success == __NV_ATOMIC_RELEASE && failure != __NV_ATOMIC_RELAXED ? __NV_ATOMIC_ACQ_REL
                    : failure > success                                              ? failure
                                                                                     : success;
  warplens_order::before(order, scope);
  const W want = __builtin_bit_cast(W, *expected);
  const W old = warplens_order::cas((W*)p, want, __builtin_bit_cast(W, (T)desired), scope);
  warplens_order::after(order, scope);
  if (old != want) *expected = __builtin_bit_cast(T, old);
  return old == want;
}

// The forms for any type, which hand values over in memory.
template <class T>
WL_ATOM void __nv_atomic_load(const T* p, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typedef typename warplens_order::Bits<T>::type W;
  *result = __builtin_bit_cast(T, __nv_atomic_load_n((const W*)p, order, scope));
}
template <class T>
WL_ATOM void __nv_atomic_store(T* p, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typedef typename warplens_order::Bits<T>::type W;
  __nv_atomic_store_n((W*)p, __builtin_bit_cast(W, *value), order, scope);
}
template <class T>
WL_ATOM void __nv_atomic_exchange(T* p, T* value, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *result = __nv_atomic_exchange_n(p, *value, order, scope);
}
template <class T>
WL_ATOM bool __nv_atomic_compare_exchange(T* p, T* expected, T* desired, bool weak, int success, int failure,
                                          int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange_n(p, expected, *desired, weak, success, failure, scope);
}

#define WL_FETCH(name, operation, sign)                                                         \
  template <class T>                                                                            \
  WL_ATOM T __nv_atomic_fetch_##name(T* p, typename warplens_order::Same<T>::type v, int order, \
                                     int scope = __NV_THREAD_SCOPE_SYSTEM) {                    \
    return warplens_order::operation(p, (T)(sign v), order, scope);                             \
  }                                                                                             \
  template <class T>                                                                            \
  WL_ATOM void __nv_atomic_##name(T* p, typename warplens_order::Same<T>::type v, int order,    \
                                  int scope = __NV_THREAD_SCOPE_SYSTEM) {                       \
    (void)warplens_order::operation(p, (T)(sign v), order, scope);                              \
  }
WL_FETCH(add, add, )
WL_FETCH(sub, add, -)
WL_FETCH(or, bit_or, )
WL_FETCH(and, bit_and, )
WL_FETCH(xor, bit_xor, )
WL_FETCH(min, min, )
WL_FETCH(max, max, )
#undef WL_FETCH
#undef WL_ATOM

#endif
#endif
