// SPDX-License-Identifier: Apache-2.0
// Sessions, modules, entries and memory of the C interface.
#include <fmt/format.h>

#include "api/objects.h"
#include "report/kernel_name.h"
#include "session/entry_name.h"

namespace warplens::api {
namespace {

thread_local std::string t_error;

}  // namespace

warplens_status fail(warplens_status status, std::string text) {
  t_error = std::move(text);
  return status;
}

warplens_status fail(warplens_status status, const Diagnostics& errors, std::string_view source) {
  std::string text;
  for (const Diagnostic& d : errors) text += render(d, source);
  while (text.ends_with('\n')) text.pop_back();
  return fail(status, std::move(text));
}

}  // namespace warplens::api

using namespace warplens;
using api::fail;
using api::guarded;

namespace {

const char* or_empty(const char* text) { return text == nullptr ? "" : text; }

warplens_status null_argument(const char* name) { return fail(WARPLENS_INVALID, fmt::format("{} is null", name)); }

}  // namespace

uint32_t warplens_api_version(void) { return WARPLENS_API_VERSION; }
const char* warplens_version(void) { return WARPLENS_VERSION; }
const char* warplens_error(void) { return api::t_error.c_str(); }

warplens_status warplens_session_create(const warplens_session_options* options, warplens_session** session) {
  return guarded([&] {
    if (session == nullptr) return null_argument("session");
    *session = nullptr;
    warplens_session_options given{};
    if (options != nullptr && !api::take(options, given))
      return fail(WARPLENS_INVALID, std::string("options: struct_bytes is not set"));
    session::SessionOptions wanted;
    wanted.gpu = or_empty(given.gpu);
    if (*or_empty(given.executor) != '\0') wanted.executor = given.executor;
    wanted.workers = given.workers;
    if (*or_empty(given.level) != '\0') wanted.level = given.level;
    if (*or_empty(given.counting) != '\0') wanted.counting = given.counting;
    auto made = session::Session::create(wanted);
    if (!made) return fail(WARPLENS_INPUT, made.error());
    auto object = std::make_unique<warplens_session>();
    object->session = std::move(*made);
    *session = object.release();
    return WARPLENS_OK;
  });
}

void warplens_session_destroy(warplens_session* session) { delete session; }

const char* warplens_session_gpu(const warplens_session* session) {
  return session == nullptr ? "" : session->session->gpu().name.c_str();
}

warplens_status warplens_module_load(warplens_session* session, const char* ptx, size_t ptx_bytes, const char* name,
                                     warplens_module** module) {
  return guarded([&] {
    if (session == nullptr) return null_argument("session");
    if (ptx == nullptr) return null_argument("ptx");
    if (module == nullptr) return null_argument("module");
    *module = nullptr;
    // A terminating zero that was counted is no part of the text.
    while (ptx_bytes > 0 && ptx[ptx_bytes - 1] == '\0') --ptx_bytes;
    const std::string text(ptx, ptx_bytes);
    const auto loaded = session->session->load(text, *or_empty(name) == '\0' ? "<ptx>" : name);
    if (!loaded) return fail(WARPLENS_INPUT, loaded.error(), text);
    warplens_module made{*loaded, {}};
    for (const ptx::Function* f : (*loaded)->entries())
      made.entries.push_back({session, *loaded, f, report::demangled(f->name)});
    session->modules.push_back(std::move(made));
    *module = &session->modules.back();
    return WARPLENS_OK;
  });
}

size_t warplens_entry_count(const warplens_module* module) { return module == nullptr ? 0 : module->entries.size(); }

const warplens_entry* warplens_entry_at(const warplens_module* module, size_t index) {
  return index < warplens_entry_count(module) ? &module->entries[index] : nullptr;
}

warplens_status warplens_entry_find(const warplens_module* module, const char* name, const warplens_entry** entry) {
  return guarded([&] {
    if (module == nullptr) return null_argument("module");
    if (entry == nullptr) return null_argument("entry");
    *entry = nullptr;
    const auto found = session::find_entry(*module->module, or_empty(name));
    if (!found) return fail(WARPLENS_INPUT, found.error());
    for (const warplens_entry& e : module->entries)
      if (e.function == *found) *entry = &e;
    return WARPLENS_OK;
  });
}

const char* warplens_entry_name(const warplens_entry* entry) {
  return entry == nullptr ? "" : entry->function->name.c_str();
}
const char* warplens_entry_demangled(const warplens_entry* entry) {
  return entry == nullptr ? "" : entry->demangled.c_str();
}
size_t warplens_parameter_count(const warplens_entry* entry) {
  return entry == nullptr ? 0 : entry->function->params.size();
}

warplens_status warplens_parameter_get(const warplens_entry* entry, size_t index, warplens_parameter* parameter) {
  return guarded([&] {
    if (entry == nullptr) return null_argument("entry");
    if (index >= entry->function->params.size())
      return fail(WARPLENS_INVALID, fmt::format("{} has {} parameters; there is no number {}", entry->function->name,
                                                entry->function->params.size(), index));
    const ptx::Param& p = entry->function->params[index];
    // Names of types are literals.
    return api::give({sizeof(warplens_parameter), p.name.c_str(), ptx::name_of(p.type).data(), p.bytes, p.align,
                      p.bytes != ptx::bytes_of(p.type) ? 1 : 0},
                     parameter);
  });
}

warplens_status warplens_allocate(warplens_session* session, uint64_t bytes, uint64_t* address) {
  return guarded([&] {
    if (session == nullptr) return null_argument("session");
    if (address == nullptr) return null_argument("address");
    *address = 0;
    const auto made = session->session->allocate(bytes);
    if (!made) return fail(WARPLENS_OUT_OF_MEMORY, made.error());
    *address = *made;
    return WARPLENS_OK;
  });
}

warplens_status warplens_free(warplens_session* session, uint64_t address) {
  return guarded([&] {
    if (session == nullptr) return null_argument("session");
    const Status done = session->session->free(address);
    return done ? WARPLENS_OK : fail(WARPLENS_INVALID, done.error());
  });
}

warplens_status warplens_copy_in(warplens_session* session, uint64_t to, const void* from, uint64_t bytes) {
  return guarded([&] {
    if (session == nullptr) return null_argument("session");
    if (from == nullptr && bytes != 0) return null_argument("from");
    const Status done = session->session->copy_in(to, from, bytes);
    return done ? WARPLENS_OK : fail(WARPLENS_INVALID, done.error());
  });
}

warplens_status warplens_copy_out(warplens_session* session, void* to, uint64_t from, uint64_t bytes) {
  return guarded([&] {
    if (session == nullptr) return null_argument("session");
    if (to == nullptr && bytes != 0) return null_argument("to");
    const Status done = session->session->copy_out(to, from, bytes);
    return done ? WARPLENS_OK : fail(WARPLENS_INVALID, done.error());
  });
}
