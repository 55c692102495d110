// SPDX-License-Identifier: Apache-2.0

// Legate registers tasks without the size of what they return, as it says that with each launch
// (`TaskInfo::register_task`, src/cpp/legate/task/detail/task_info.cc, 26.06). Legion takes this
// for a size that nobody knows, and then never takes what a trace remembers (`PhysicalTemplate::
// finalize`, the status NOT_REPLAYABLE_VARIABLE_RETURN). Here traces are told that it is known.

#include "interposition/traces.h"

#include <legion.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "interposition/symbols.h"

using legate_diffuse::find_function;
using legate_diffuse::find_member;
using legate_diffuse::find_symbol;
using legate_diffuse::name_of;
using legate_diffuse::real;

// A member function of a class that Legion's headers for others do not have.
using Record = void(void* self, const void* operation, const void* output, const void* instances,
                    bool is_leaf, bool has_return_size, void* applied);
Record record_mapper_output asm(
    "_ZN6Legion8Internal16PhysicalTemplate20record_mapper_outputERKNS0_17ContextCoordinateERKNS_7"
    "Mapping6Mapper13MapTaskOutputERKSt5dequeINS0_11InstanceSetESaISB_EEbbRSt3setINS0_7RtEventESt4"
    "lessISH_ESaISH_EE");

namespace {

using Words = std::vector<std::uint64_t>;
using Fields = std::set<Legion::FieldID>;

constexpr std::size_t MAX_TRACES = 1024;
// Of launches that have no trace.
constexpr std::size_t MAX_KNOWN = 4096;

constexpr auto* BEGIN =
    "_ZN6Legion7Runtime11begin_traceEPNS_8Internal11TaskContextEjbbPKSt3setIySt4lessIyESaIyEEPKc";
constexpr auto* END = "_ZN6Legion7Runtime9end_traceEPNS_8Internal11TaskContextEjPKc";

// All that Legion analyses of a launch, and its mapper is told; not what the tasks compute from.
class KeyWriter {
 public:
  KeyWriter(std::uint64_t kind, const Legion::IndexTaskLauncher& launcher) {
    put(kind, launcher.task_id, launcher.map_id, launcher.tag, launcher.futures.size(),
        launcher.point_futures.size(), launcher.independent_requirements,
        launcher.elide_future_return, launcher.future_return_size.value_or(0),
        launcher.launch_space.get_id(), launcher.sharding_space.get_id());
    put(launcher.launch_domain.dim, launcher.launch_domain.is_id);
    put_all(launcher.launch_domain.rect_data,
            launcher.launch_domain.rect_data + 2 * launcher.launch_domain.dim);
    for (const auto& requirement : launcher.region_requirements) put_requirement(requirement);
    const auto* const told = static_cast<const unsigned char*>(launcher.map_arg.get_ptr());
    put_all(told, told + launcher.map_arg.get_size());
  }

  Words take() { return std::move(words_); }

 private:
  template <typename... Values>
  void put(Values... values) {
    (words_.push_back(static_cast<std::uint64_t>(values)), ...);
  }

  template <typename Iterator>
  void put_all(Iterator begin, Iterator end) {
    put(std::distance(begin, end));
    words_.insert(words_.end(), begin, end);
  }

  void put_requirement(const Legion::RegionRequirement& requirement) {
    const auto& region = requirement.region;
    const auto& partition = requirement.partition;

    if (requirement.handle_type == LEGION_PARTITION_PROJECTION) {
      put(partition.get_index_partition().get_id(), partition.get_field_space().get_id(),
          partition.get_tree_id());
    } else {
      put(region.get_index_space().get_id(), region.get_field_space().get_id(),
          region.get_tree_id());
    }
    put(requirement.handle_type, requirement.parent.get_index_space().get_id(),
        requirement.privilege, requirement.prop, requirement.redop, requirement.projection,
        requirement.flags, requirement.tag);
    put_all(requirement.privilege_fields.begin(), requirement.privilege_fields.end());
    put_all(requirement.instance_fields.begin(), requirement.instance_fields.end());
  }

  Words words_;
};

std::atomic<bool> program_has_traces{false};

struct Entry {
  std::uint64_t times = 0;
  std::optional<Legion::TraceID> trace;
};

// The arrays whose memory this process has mapped. Legion takes that back for each task, which it
// refuses to do in a trace.
class MappedArrays {
 public:
  template <typename Launcher>
  void attach(const Launcher& launcher) {
    put(attached_, launcher.parent, launcher.privilege_fields);
  }

  void map(const void* mapping, const Legion::RegionRequirement& requirement) noexcept {
    auto& [is_mapped, arrays] = mappings_[mapping];

    is_mapped = true;
    arrays.clear();
    put(arrays, requirement.parent, requirement.privilege_fields);
  }

  // It may be mapped again later on.
  void set_mapped(const void* mapping, bool is_mapped) {
    const auto known = mappings_.find(mapping);

    if (known != mappings_.end()) known->second.first = is_mapped;
  }

  [[nodiscard]] bool has_any_of(const Legion::IndexTaskLauncher& launcher) const {
    const auto& all = launcher.region_requirements;

    return std::any_of(all.begin(), all.end(), [&](const auto& each) {
      Arrays arrays;
      put(arrays, each.parent, each.privilege_fields);
      return meet(arrays, attached_) ||
             std::any_of(mappings_.begin(), mappings_.end(), [&](const auto& mapping) {
               return mapping.second.first && meet(arrays, mapping.second.second);
             });
    });
  }

 private:
  // Trees of regions, and fields.
  using Arrays = std::set<std::pair<Legion::RegionTreeID, Legion::FieldID>>;

  static void put(Arrays& arrays, const Legion::LogicalRegion& region, const Fields& fields) {
    for (const auto field : fields) arrays.emplace(region.get_tree_id(), field);
  }

  static bool meet(const Arrays& some, const Arrays& others) {
    return std::any_of(some.begin(), some.end(),
                       [&](const auto& each) { return others.count(each) > 0; });
  }

  // For good: when Legate detaches them is not followed.
  Arrays attached_;
  std::map<const void*, std::pair<bool, Arrays>> mappings_;
};

// What a mapping is known by. It holds one pointer (legion/api/physical_region.h).
const void* number_of(const Legion::PhysicalRegion& mapping) {
  static_assert(sizeof(mapping) == sizeof(const void*));
  const void* number = nullptr;

  std::memcpy(&number, static_cast<const void*>(&mapping), sizeof(number));
  return number;
}

// The launches of the window's thread.
class Launches {
 public:
  void begin(std::uint64_t kind, Legion::TaskID task) {
    static const auto can_trace = find_symbol(BEGIN) && find_symbol(END) &&
                                  find_symbol(legate_diffuse::name_of_private_symbol());

    kind_ = kind;
    task_ = task;
    is_next_ = can_trace && repeats > 0 && !program_has_traces;
  }

  // An index launch is to be issued: ours, or another one, as which Legate finds out of what an
  // image consists.
  void see(Legion::Runtime* runtime, Legion::Context context,
           const Legion::IndexTaskLauncher& launcher) {
    if (!is_next_ || launcher.task_id != task_) return;
    is_next_ = false;
    if (mapped.has_any_of(launcher)) return;
    auto& entry = find(KeyWriter{kind_, launcher}.take());

    if (!entry.trace && entry.times++ >= repeats && num_traces_ < MAX_TRACES) {
      entry.trace = static_cast<Legion::TraceID>(LEGION_MAX_APPLICATION_TRACE_ID - ++num_traces_);
    }
    if (!entry.trace) return;
    static const auto begin_trace = find_member<decltype(&Legion::Runtime::begin_trace)>(BEGIN);

    open_ = Open{runtime, context, *entry.trace};
    (runtime->*begin_trace)(context, *entry.trace, false, false, nullptr, nullptr);
  }

  bool end() {
    is_next_ = false;
    if (!open_) return false;
    const auto [runtime, context, trace] = *std::exchange(open_, std::nullopt);
    static const auto end_trace = find_member<decltype(&Legion::Runtime::end_trace)>(END);

    (runtime->*end_trace)(context, trace, nullptr);
    for (const auto& launcher : std::exchange(discards_, {})) {
      runtime->discard_fields(context, launcher);
    }
    return true;
  }

  // An array that is gone is no part of the launch: whether it is put off until that has ended.
  bool put_off(const Legion::DiscardLauncher& launcher) {
    if (open_) discards_.push_back(launcher);
    return open_.has_value();
  }

  std::uint64_t repeats = 3;
  MappedArrays mapped;

 private:
  struct Open {
    Legion::Runtime* runtime;
    Legion::Context context;
    Legion::TraceID trace;
  };

  Entry& find(Words key) {
    if (entries_.size() >= num_traces_ + MAX_KNOWN) {
      for (auto each = entries_.begin(); each != entries_.end();) {
        each = each->second.trace ? std::next(each) : entries_.erase(each);
      }
    }
    return entries_[std::move(key)];
  }

  std::map<Words, Entry> entries_;
  std::size_t num_traces_ = 0;
  std::uint64_t kind_ = 0;
  Legion::TaskID task_ = 0;
  bool is_next_ = false;
  std::optional<Open> open_;
  std::vector<Legion::DiscardLauncher> discards_;
};

thread_local Launches launches;

}  // namespace

const char* legate_diffuse::name_of_private_symbol() {
  return name_of(&record_mapper_output);
}

void legate_diffuse::leave_traces_to_program() {
  program_has_traces = true;
}

void legate_diffuse_net_set_repeats(std::uint64_t repeats) {
  launches.repeats = repeats;
}

void legate_diffuse_net_begin_launch(std::uint64_t kind, std::uint32_t task) {
  launches.begin(kind, task);
}

bool legate_diffuse_net_end_launch() {
  return launches.end();
}

Legion::FutureMap Legion::Runtime::execute_index_space(
    Context context, const IndexTaskLauncher& launcher,
    std::vector<OutputRequirement>* requirements) {
  using Execute =
      FutureMap (Runtime::*)(Context, const IndexTaskLauncher&, std::vector<OutputRequirement>*);
  static const auto execute = real<Execute>(&Runtime::execute_index_space);

  launches.see(this, context, launcher);
  return (this->*execute)(context, launcher, requirements);
}

void Legion::Runtime::discard_fields(Context context, const DiscardLauncher& launcher) {
  static const auto discard = real(&Runtime::discard_fields);

  if (!launches.put_off(launcher)) (this->*discard)(context, launcher);
}

Legion::PhysicalRegion Legion::Runtime::map_region(Context context,
                                                   const InlineLauncher& launcher) {
  using Map = PhysicalRegion (Runtime::*)(Context, const InlineLauncher&);
  static const auto map = real<Map>(&Runtime::map_region);
  auto mapping = (this->*map)(context, launcher);

  launches.mapped.map(number_of(mapping), launcher.requirement);
  return mapping;
}

// What is passed by value is the caller's to destroy, and is passed on where it is.

void Legion::Runtime::remap_region(Context context, PhysicalRegion mapping,
                                   const char* provenance) {
  using Remap = void (*)(Runtime*, Context, PhysicalRegion*, const char*);
  static const auto remap = find_function<Remap>(name_of(&Runtime::remap_region));

  launches.mapped.set_mapped(number_of(mapping), true);
  remap(this, context, &mapping, provenance);
}

void Legion::Runtime::unmap_region(Context context, PhysicalRegion mapping) {
  using Unmap = void (*)(Runtime*, Context, PhysicalRegion*);
  static const auto unmap = find_function<Unmap>(name_of(&Runtime::unmap_region));

  launches.mapped.set_mapped(number_of(mapping), false);
  unmap(this, context, &mapping);
}

Legion::PhysicalRegion Legion::Runtime::attach_external_resource(Context context,
                                                                 const AttachLauncher& launcher) {
  static const auto attach = real(&Runtime::attach_external_resource);

  launches.mapped.attach(launcher);
  return (this->*attach)(context, launcher);
}

Legion::ExternalResources Legion::Runtime::attach_external_resources(
    Context context, const IndexAttachLauncher& launcher) {
  static const auto attach = real(&Runtime::attach_external_resources);

  launches.mapped.attach(launcher);
  return (this->*attach)(context, launcher);
}

void record_mapper_output(void* self, const void* operation, const void* output,
                          const void* instances, bool is_leaf, bool has_return_size,
                          void* applied) {
  static const auto record = real(&record_mapper_output);

  record(self, operation, output, instances, is_leaf, has_return_size || !program_has_traces,
         applied);
}
