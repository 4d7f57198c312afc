// SPDX-License-Identifier: Apache-2.0
// What listeners and reports know of a kernel: places of its instructions, its access sites, its blocks.
#include "base/check.h"
#include "machine/access_list.h"
#include "machine/parameter_of.h"

namespace warplens::machine {
namespace {

/// A .loc and the calls around it, innermost first, joined by the places in the caller.
std::vector<ptx::SourceLoc> frames_of(const ptx::Module& module, const ptx::SourceLoc& loc) {
  std::vector<ptx::SourceLoc> frames{loc};
  // A chain longer than the table of sites would go in circles; the text decides, so stop instead of trusting it.
  while (frames.back().inlined_at < module.inline_sites.size() && frames.size() <= module.inline_sites.size())
    frames.push_back(module.inline_sites[frames.back().inlined_at].call);
  return frames;
}

events::Place place_of(const ptx::Module& module, const ptx::SourceLoc& loc) {
  return {loc.file < module.files.size() ? loc.file : 0, loc.line, loc.column};
}

/// The user's line: the innermost frame in the file that holds the kernel itself (the outermost frame's file), so that
/// code from headers is shown where the user's own code called it.
events::Place user_place_of(const ptx::Module& module, const std::vector<ptx::SourceLoc>& frames) {
  for (const ptx::SourceLoc& frame : frames)
    if (frame.file == frames.back().file && frame.line != 0) return place_of(module, frame);
  return place_of(module, frames.back());
}

/// Line 0 ("the compiler made this up") inherits the line above it in its block.
void describe_places(const ptx::Module& module, const ptx::Function& function, const ir::Kernel& graph,
                     events::KernelInfo& info) {
  info.pcs.resize(function.body.size());
  events::PcInfo last;
  uint32_t block = ir::kNoBlock;
  for (uint32_t i = 0; i < function.body.size(); ++i) {
    const ptx::Instr& in = function.body[i];
    events::PcInfo& pc = info.pcs[i];
    const uint32_t own = i < graph.block_of.size() ? graph.block_of[i] : ir::kNoBlock;
    if (own != block) last = {};
    block = own;
    if (in.loc != 0 && in.loc < function.locs.size() && function.locs[in.loc].line != 0) {
      const ptx::SourceLoc& loc = function.locs[in.loc];
      const auto frames = frames_of(module, loc);
      pc.place = place_of(module, loc);
      pc.user_place = user_place_of(module, frames);
      if (loc.inlined_at < module.inline_sites.size())
        pc.inlined_function = module.inline_sites[loc.inlined_at].function;
      last = pc;
    } else {
      pc = last;
    }
    pc.ptx_line = in.pos.line;
  }
}

}  // namespace

events::KernelInfo describe(const ptx::Module& module, const ptx::Function& function, const ir::Kernel& graph,
                            const AccessList& accesses) {
  events::KernelInfo info;
  info.name = function.name;
  info.ptx_file = module.file_name;
  info.files = module.files;
  if (info.files.empty()) info.files.emplace_back();
  describe_places(module, function, graph, info);
  const ParameterFinder finder(function);
  for (const Access& access : accesses.accesses) {
    events::AccessSite site;
    site.pc = access.instr;
    site.space = access.space;
    site.generic = access.generic;
    site.access = access.access;
    site.bytes = access.bytes;
    site.form = access.form;
    site.combined = access.combined;
    site.estimate = access.estimate;
    if (access.space == events::Space::kGlobal || access.generic)
      site.parameter = finder.of_address(function.body[access.instr]);
    info.sites.push_back(std::move(site));
  }
  for (const ir::Block& block : graph.blocks) info.blocks.emplace_back(block.begin, block.end - block.begin);
  return info;
}

}  // namespace warplens::machine
