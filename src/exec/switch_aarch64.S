// SPDX-License-Identifier: Apache-2.0
// Stack switch for AArch64: d8-d15, x19-x30, then the stack pointer. Ends in an indirect jump, see fiber.h.
// FPCR (rounding) is not saved: nobody switches with a changed one.
#if defined(__aarch64__) && !defined(WL_PORTABLE_SWITCH)
        .text
        .globl  wl_switch_stack
        .hidden wl_switch_stack
        .type   wl_switch_stack, %function
        .p2align 4
wl_switch_stack:                        // x0: where to save the stack pointer, x1: the one to continue at
        sub     sp, sp, #160
        stp     d8, d9, [sp, #0]
        stp     d10, d11, [sp, #16]
        stp     d12, d13, [sp, #32]
        stp     d14, d15, [sp, #48]
        stp     x19, x20, [sp, #64]
        stp     x21, x22, [sp, #80]
        stp     x23, x24, [sp, #96]
        stp     x25, x26, [sp, #112]
        stp     x27, x28, [sp, #128]
        stp     x29, x30, [sp, #144]
        mov     x9, sp
        str     x9, [x0]
        mov     sp, x1
        ldp     d8, d9, [sp, #0]
        ldp     d10, d11, [sp, #16]
        ldp     d12, d13, [sp, #32]
        ldp     d14, d15, [sp, #48]
        ldp     x19, x20, [sp, #64]
        ldp     x21, x22, [sp, #80]
        ldp     x23, x24, [sp, #96]
        ldp     x25, x26, [sp, #112]
        ldp     x27, x28, [sp, #128]
        ldp     x29, x30, [sp, #144]
        add     sp, sp, #160
        br      x30
        .size   wl_switch_stack, .-wl_switch_stack

        .globl  wl_fiber_start
        .hidden wl_fiber_start
        .type   wl_fiber_start, %function
        .p2align 4
wl_fiber_start:                         // x19: entry, x20: its argument
        mov     x29, xzr
        mov     x30, xzr
        mov     x0, x20
        blr     x19
        brk     #1
        .size   wl_fiber_start, .-wl_fiber_start
#endif
        .section .note.GNU-stack,"",%progbits
