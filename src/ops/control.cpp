// SPDX-License-Identifier: Apache-2.0
// Chapter: control flow ("Control Flow Instructions") and the instructions that act on scheduling only ("Miscellaneous
// Instructions"). All of it is role: executors move lanes between blocks; there are no values here.
#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

#define WL_CONTROL "Control Flow Instructions: "
#define WL_MISC "Miscellaneous Instructions: "
constexpr OpDef kRows[] = {
    {.form = "bra{.uni} target:label",
     .spec = {WL_CONTROL "bra", 1, 0, 10},
     .role = Role::kBranch,
     .pipe = Pipe::kControl},
    {.form = "brx.idx{.uni} index:u32, targets:label",
     .spec = {WL_CONTROL "brx.idx", 6, 0, 30},
     .role = Role::kBranchIndexed,
     .pipe = Pipe::kControl},
    {.form = "call{.uni} results:params?, callee:func, arguments:params?, prototype:label?",
     .spec = {WL_CONTROL "call", 1, 0, 10},
     .role = Role::kCall,
     .pipe = Pipe::kControl},
    {.form = "ret{.uni}", .spec = {WL_CONTROL "ret", 1, 0, 10}, .role = Role::kReturn, .pipe = Pipe::kControl},
    {.form = "exit", .spec = {WL_CONTROL "exit", 1, 0, 10}, .role = Role::kExit, .pipe = Pipe::kControl},
    {.form = "trap", .spec = {WL_MISC "trap", 1, 0, 10}, .role = Role::kTrap, .pipe = Pipe::kControl},
    {.form = "brkpt", .spec = {WL_MISC "brkpt", 1, 0, 11}, .role = Role::kTrap, .pipe = Pipe::kControl},
    {.form = "nanosleep.type t; .type = {.u32}",
     .spec = {WL_MISC "nanosleep", 6, 3, 70},
     .role = Role::kNoEffect,
     .pipe = Pipe::kControl},
    {.form = "pmevent{.mask} t:imm:b32",
     .spec = {WL_MISC "pmevent", 1, 4, 10},
     .role = Role::kNoEffect,
     .pipe = Pipe::kControl},
    {.form = "griddepcontrol.action; .action = {.launch_dependents, .wait}",
     .spec = {"Parallel Synchronization and Communication Instructions: griddepcontrol", 7, 8, 90},
     .role = Role::kNoEffect,
     .pipe = Pipe::kControl},
    {.form = "setmaxnreg.action.sync.aligned.type count:imm:type; .action = {.inc, .dec}; .type = {.u32}",
     .spec = {WL_MISC "setmaxnreg", 8, 0, 90},
     .role = Role::kNoEffect,
     .pipe = Pipe::kControl},
    {.form = "alloca.type d, size, align:imm:b32?; .type = {.u32, .u64}",
     .spec = {"Stack Manipulation Instructions: alloca", 7, 3, 52},
     .unsupported = "stack memory whose size is known only at run time is not modelled"},
    {.form = "stacksave.type d; .type = {.u32, .u64}",
     .spec = {"Stack Manipulation Instructions: stacksave", 7, 3, 52},
     .unsupported = "stack memory whose size is known only at run time is not modelled"},
    {.form = "stackrestore.type a; .type = {.u32, .u64}",
     .spec = {"Stack Manipulation Instructions: stackrestore", 7, 3, 52},
     .unsupported = "stack memory whose size is known only at run time is not modelled"},
};

}  // namespace

Chapter control_chapter() { return kRows; }

}  // namespace warplens::ops
