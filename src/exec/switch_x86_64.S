// SPDX-License-Identifier: Apache-2.0
// Stack switch for x86-64 (System V): the six callee-saved registers, then the stack pointer. It ends in an indirect
// jump on purpose, see fiber.h. Rounding modes are not saved: nobody switches with a changed one.
#if defined(__x86_64__) && !defined(WL_PORTABLE_SWITCH)
        .text
        .globl  wl_switch_stack
        .hidden wl_switch_stack
        .type   wl_switch_stack, @function
        .p2align 4
wl_switch_stack:                        // rdi: where to save the stack pointer, rsi: the one to continue at
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        popq    %rcx
        jmp     *%rcx
        .size   wl_switch_stack, .-wl_switch_stack

        .globl  wl_fiber_start
        .hidden wl_fiber_start
        .type   wl_fiber_start, @function
        .p2align 4
wl_fiber_start:                         // r13: entry, r12: its argument
        .cfi_startproc
        .cfi_undefined rip              // the outermost frame: unwinders stop here
        xorl    %ebp, %ebp
        andq    $-16, %rsp
        movq    %r12, %rdi
        callq   *%r13
        ud2
        .cfi_endproc
        .size   wl_fiber_start, .-wl_fiber_start
#endif
        .section .note.GNU-stack,"",%progbits
