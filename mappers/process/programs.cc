// SPDX-License-Identifier: Apache-2.0

#include "process/programs.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "program/bases.h"
#include "threads/background.h"
#include "threads/program_runner.h"

namespace legate_diffuse {

namespace {

// To begin a program in the background, and to wait for it, takes 10 us; on so many points of loops
// programs take ten times as long.
std::atomic<std::int64_t> least_apart{std::int64_t{1} << 17};

std::int64_t points_of(const Program& program) {
  std::int64_t points = 0;

  for (const auto& nest : program.nests) {
    points += std::accumulate(nest.head.extents, nest.head.extents + nest.head.dim, std::int64_t{1},
                              std::multiplies<>{});
  }
  return points;
}

bool runs_apart(const Program& program, const std::vector<SmallArray*>& arguments,
                const Sharing& sharing) {
  return Background::has_core(sharing.num_threads) && points_of(program) >= least_apart &&
         std::all_of(arguments.begin(), arguments.end(),
                     [](const auto* each) { return each->may_be_used(); });
}

// The arguments of a program, with memory for what it writes.
struct Prepared {
  Prepared(const std::vector<SmallArray*>& arguments, const Privilege* privileges) {
    for (std::size_t index = 0; index < arguments.size(); ++index) {
      // what nobody reads first is written in full
      if (!reads(privileges[index])) arguments[index]->reserve();
      if (writes(privileges[index])) arguments[index]->own();
    }
    for (auto* const argument : arguments) {
      const auto& [extents, itemsize] = shapes.emplace_back(argument->shape());
      const auto dim = static_cast<std::int64_t>(extents.size());
      auto* const elements = const_cast<char*>(argument->elements());

      bases.push_back(row_major(elements, itemsize, dim, extents.data()));
    }
  }

  std::vector<Base> bases;
  std::vector<RootShape> shapes;
};

// A program with its own words.
class OwnProgram {
 public:
  // Throws InvalidProgram: see `check_program`.
  OwnProgram(std::vector<std::int64_t> words, const std::vector<RootShape>& shapes)
      : words_{std::move(words)}, program_{check_program({words_.data(), words_.size()}, shapes)} {}
  OwnProgram(const OwnProgram&) = delete;
  OwnProgram& operator=(const OwnProgram&) = delete;

  [[nodiscard]] const Program& get() const { return program_; }

 private:
  std::vector<std::int64_t> words_;
  Program program_;
};

void note_changes(const std::vector<SmallArray*>& arguments, const Privilege* privileges) {
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    if (writes(privileges[index])) arguments[index]->set_changed();
  }
}

}  // namespace

void run_here(const Program& program, const std::vector<SmallArray*>& arguments,
              const Privilege* privileges, const Sharing& sharing) {
  Prepared prepared{arguments, privileges};

  run_program(program, std::move(prepared.bases), prepared.shapes, sharing);
  note_changes(arguments, privileges);
}

void run_apart(const std::vector<std::int64_t>& words, const Program& program,
               const std::vector<SmallArray*>& arguments, const Privilege* privileges,
               const Sharing& sharing) {
  if (!runs_apart(program, arguments, sharing)) {
    run_here(program, arguments, privileges, sharing);
    return;
  }
  // so that no array is used by what came before
  Background::wait();

  Prepared prepared{arguments, privileges};
  const auto own = std::make_shared<const OwnProgram>(words, prepared.shapes);
  const auto work = Background::begin([own, prepared = std::move(prepared), sharing] {
    run_program(own->get(), prepared.bases, prepared.shapes, sharing);
  });

  for (auto* const each : arguments) each->use(work);
  note_changes(arguments, privileges);
}

std::int64_t set_least_apart(std::int64_t points) {
  return least_apart.exchange(points);
}

}  // namespace legate_diffuse
