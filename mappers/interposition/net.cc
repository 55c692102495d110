// SPDX-License-Identifier: Apache-2.0

// The native net. Clients of Legate, Python or C++, call it through the dynamic linker; this
// library is loaded before Legate and into the global scope, so that its definitions of Legate's
// entry points are found first. Each submits a pending window and then calls the real function.
// Legate's own headers declare what is defined here, so signatures and calling conventions are the
// compiler's.
//
// Nothing here is linked to Legate: the library is loaded first, and what it needs is looked up in
// the liblegate that the process has loaded by then.

#include "interposition/net.h"

#include <legate.h>
#include <legate/timing/timing.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "interposition/changing_scopes.h"
#include "interposition/symbols.h"

using legate_diffuse::ChangingScopes;
using legate_diffuse::find_function;
using legate_diffuse::real;

namespace {

std::atomic<bool> pending{false};
std::atomic<std::thread::id> window_owner{};
std::atomic<void (*)()> flush_callback{nullptr};
// True while the window submits what is pending: its own calls pass through.
thread_local bool passing = false;
// How often an entry point was called on this thread.
thread_local std::uint64_t num_calls = 0;

// Functions that the net calls, but does not define.
constexpr auto* PRIORITY = "_ZN6legate5Scope8priorityEv";
constexpr auto* EXCEPTION_MODE = "_ZN6legate5Scope14exception_modeEv";
constexpr auto* MACHINE = "_ZN6legate5Scope7machineEv";
constexpr auto* MACHINE_AND = "_ZNK6legate7mapping7MachineanERKS1_";
constexpr auto* MACHINE_EQUAL = "_ZNK6legate7mapping7MachineeqERKS1_";
constexpr auto* PARALLEL_POLICY = "_ZN6legate5Scope15parallel_policyEv";
constexpr auto* PARALLEL_POLICY_EQUAL = "_ZNK6legate14ParallelPolicyeqERKS0_";

// Whether there is a window. Else all functions do what the real ones do, and nothing more.
bool is_connected() {
  return flush_callback.load() != nullptr;
}

// Calls on other threads pass through: these are Legate's own, which run tasks, and a task can't
// submit the application's operations.
void call_back() {
  auto* const callback = flush_callback.load();

  if (callback && !passing && window_owner.load() == std::this_thread::get_id()) callback();
}

void flush() {
  ++num_calls;
  if (pending.load(std::memory_order_relaxed)) call_back();
}

// Submits what is pending, and calls the real counterpart of a member function defined below.
template <auto OURS, typename Object, typename... Arguments>
decltype(auto) pass(Object* object, Arguments&&... arguments) {
  static const auto call = real(OURS);
  flush();
  return (object->*call)(std::forward<Arguments>(arguments)...);
}

// The same for one of several functions of a name.
template <typename Function, Function OURS, typename Object, typename... Arguments>
decltype(auto) pass(Object* object, Arguments&&... arguments) {
  return pass<OURS>(object, std::forward<Arguments>(arguments)...);
}

void change_scope(const legate::Scope* scope) {
  flush();
  ChangingScopes::instance().add(scope);
}

}  // namespace

void legate_diffuse_net_set_callback(void (*callback)()) {
  window_owner = std::this_thread::get_id();
  flush_callback = callback;
}

const char* legate_diffuse_net_missing_symbol() {
  auto names = legate_diffuse::exported_symbols();

  for (const auto* name : {PRIORITY, EXCEPTION_MODE, MACHINE, MACHINE_AND, MACHINE_EQUAL,
                           PARALLEL_POLICY, PARALLEL_POLICY_EQUAL}) {
    names.push_back(name);
  }
  for (const auto* name : names) {
    const auto is_own = std::string_view{name}.rfind("legate_diffuse_", 0) == 0;
    if (!is_own && !legate_diffuse::find_symbol(name)) return name;
  }
  return nullptr;
}

void legate_diffuse_net_set_pending(bool is_pending) {
  pending = is_pending;
}

bool legate_diffuse_net_set_passing(bool is_passing) {
  return std::exchange(passing, is_passing);
}

std::uint64_t legate_diffuse_net_num_calls() {
  return num_calls;
}

namespace legate {

using Kind = std::optional<ReductionOpKind>;
using KindCode = std::optional<std::int32_t>;

template <typename... Parameters>
using OfRuntime = void (Runtime::*)(Parameters...);

void Runtime::submit(AutoTask&& task) {
  pass<OfRuntime<AutoTask&&>, &Runtime::submit>(this, std::move(task));
}

void Runtime::submit(ManualTask&& task) {
  pass<OfRuntime<ManualTask&&>, &Runtime::submit>(this, std::move(task));
}

void Runtime::issue_copy(LogicalStore& target, const LogicalStore& source, Kind kind) {
  pass<OfRuntime<LogicalStore&, const LogicalStore&, Kind>, &Runtime::issue_copy>(this, target,
                                                                                  source, kind);
}

void Runtime::issue_copy(LogicalStore& target, const LogicalStore& source, KindCode kind) {
  pass<OfRuntime<LogicalStore&, const LogicalStore&, KindCode>, &Runtime::issue_copy>(this, target,
                                                                                      source, kind);
}

void Runtime::issue_gather(LogicalStore& target, const LogicalStore& source,
                           const LogicalStore& source_indirect, Kind kind) {
  pass<OfRuntime<LogicalStore&, const LogicalStore&, const LogicalStore&, Kind>,
       &Runtime::issue_gather>(this, target, source, source_indirect, kind);
}

void Runtime::issue_gather(LogicalStore& target, const LogicalStore& source,
                           const LogicalStore& source_indirect, KindCode kind) {
  pass<OfRuntime<LogicalStore&, const LogicalStore&, const LogicalStore&, KindCode>,
       &Runtime::issue_gather>(this, target, source, source_indirect, kind);
}

void Runtime::issue_scatter(LogicalStore& target, const LogicalStore& target_indirect,
                            const LogicalStore& source, Kind kind) {
  pass<OfRuntime<LogicalStore&, const LogicalStore&, const LogicalStore&, Kind>,
       &Runtime::issue_scatter>(this, target, target_indirect, source, kind);
}

void Runtime::issue_scatter(LogicalStore& target, const LogicalStore& target_indirect,
                            const LogicalStore& source, KindCode kind) {
  pass<OfRuntime<LogicalStore&, const LogicalStore&, const LogicalStore&, KindCode>,
       &Runtime::issue_scatter>(this, target, target_indirect, source, kind);
}

void Runtime::issue_scatter_gather(LogicalStore& target, const LogicalStore& target_indirect,
                                   const LogicalStore& source, const LogicalStore& source_indirect,
                                   Kind kind) {
  pass<
      OfRuntime<LogicalStore&, const LogicalStore&, const LogicalStore&, const LogicalStore&, Kind>,
      &Runtime::issue_scatter_gather>(this, target, target_indirect, source, source_indirect, kind);
}

void Runtime::issue_scatter_gather(LogicalStore& target, const LogicalStore& target_indirect,
                                   const LogicalStore& source, const LogicalStore& source_indirect,
                                   KindCode kind) {
  pass<OfRuntime<LogicalStore&, const LogicalStore&, const LogicalStore&, const LogicalStore&,
                 KindCode>,
       &Runtime::issue_scatter_gather>(this, target, target_indirect, source, source_indirect,
                                       kind);
}

void Runtime::issue_fill(const LogicalArray& array, const LogicalStore& value) {
  pass<OfRuntime<const LogicalArray&, const LogicalStore&>, &Runtime::issue_fill>(this, array,
                                                                                  value);
}

void Runtime::issue_fill(const LogicalArray& array, const Scalar& value) {
  pass<OfRuntime<const LogicalArray&, const Scalar&>, &Runtime::issue_fill>(this, array, value);
}

LogicalStore Runtime::tree_reduce(Library library, LocalTaskID task_id, const LogicalStore& store,
                                  std::int32_t radix) {
  return pass<&Runtime::tree_reduce>(this, library, task_id, store, radix);
}

void Runtime::prefetch_bloated_instances(const LogicalStore& store,
                                         Span<const std::uint64_t> low_offsets,
                                         Span<const std::uint64_t> high_offsets, bool initialize) {
  pass<&Runtime::prefetch_bloated_instances>(this, store, low_offsets, high_offsets, initialize);
}

void Runtime::issue_mapping_fence() {
  pass<&Runtime::issue_mapping_fence>(this);
}

void Runtime::issue_execution_fence(bool block) {
  pass<&Runtime::issue_execution_fence>(this, block);
}

void Runtime::raise_pending_exception() {
  pass<&Runtime::raise_pending_exception>(this);
}

void Runtime::begin_trace(std::uint32_t trace_id) {
  pass<&Runtime::begin_trace>(this, trace_id);
}

void Runtime::end_trace(std::uint32_t trace_id) {
  pass<&Runtime::end_trace>(this, trace_id);
}

PhysicalStore LogicalStore::get_physical_store(std::optional<mapping::StoreTarget> target) const {
  return pass<&LogicalStore::get_physical_store>(this, target);
}

void LogicalStore::detach() {
  pass<&LogicalStore::detach>(this);
}

void LogicalStore::offload_to(mapping::StoreTarget target) {
  pass<&LogicalStore::offload_to>(this, target);
}

PhysicalArray LogicalArray::get_physical_array(std::optional<mapping::StoreTarget> target) const {
  return pass<&LogicalArray::get_physical_array>(this, target);
}

void LogicalArray::offload_to(mapping::StoreTarget target) const {
  pass<&LogicalArray::offload_to>(this, target);
}

namespace timing {

Time measure_microseconds() {
  static const auto call = real(&measure_microseconds);
  flush();
  return call();
}

Time measure_nanoseconds() {
  static const auto call = real(&measure_nanoseconds);
  flush();
  return call();
}

}  // namespace timing

std::int32_t finish() {
  static const auto call = real(&finish);
  flush();
  return call();
}

// Python's Scope sets its priority and exception mode every time it is entered, mostly to the
// values that they have. Only a change matters to pending operations.

void Scope::set_priority(std::int32_t priority) {
  static const auto call = real(&Scope::set_priority);
  if (is_connected()) {
    static const auto current = find_function<std::int32_t (*)()>(PRIORITY);
    if (priority != current()) change_scope(this);
  }
  (this->*call)(priority);
}

void Scope::set_exception_mode(ExceptionMode exception_mode) {
  static const auto call = real(&Scope::set_exception_mode);
  if (is_connected()) {
    static const auto current = find_function<ExceptionMode (*)()>(EXCEPTION_MODE);
    if (exception_mode != current()) change_scope(this);
  }
  (this->*call)(exception_mode);
}

void Scope::set_machine(const mapping::Machine& machine) {
  using mapping::Machine;
  static const auto call = real(&Scope::set_machine);
  if (is_connected()) {
    static const auto current = find_function<Machine (*)()>(MACHINE);
    static const auto intersect =
        find_function<Machine (*)(const Machine*, const Machine&)>(MACHINE_AND);
    static const auto equal =
        find_function<bool (*)(const Machine*, const Machine&)>(MACHINE_EQUAL);
    const auto outer = current();
    const auto inner = intersect(&outer, machine);
    if (!equal(&inner, outer)) change_scope(this);
  }
  (this->*call)(machine);
}

void Scope::set_parallel_policy(ParallelPolicy policy) {
  static const auto call = real(&Scope::set_parallel_policy);
  if (is_connected()) {
    static const auto current = find_function<const ParallelPolicy& (*)()>(PARALLEL_POLICY);
    static const auto equal = find_function<bool (*)(const ParallelPolicy*, const ParallelPolicy&)>(
        PARALLEL_POLICY_EQUAL);
    if (!equal(&policy, current())) change_scope(this);
  }
  (this->*call)(policy);
}

}  // namespace legate

// The destructor is defined under its mangled names, and not as a member, because a C++ destructor
// would destroy the scope's pointer again after the real one has.
extern "C" {

[[gnu::visibility("default")]] void legate_diffuse_net_end_scope(legate::Scope* scope) asm(
    "_ZN6legate5ScopeD1Ev");

void legate_diffuse_net_end_scope(legate::Scope* scope) {
  static const auto call = find_function<void (*)(legate::Scope*)>("_ZN6legate5ScopeD1Ev");
  if (ChangingScopes::instance().remove(scope)) flush();
  call(scope);
}

[[gnu::visibility("default"), gnu::alias("_ZN6legate5ScopeD1Ev")]] void
legate_diffuse_net_end_base_scope(legate::Scope* scope) asm("_ZN6legate5ScopeD2Ev");
}
