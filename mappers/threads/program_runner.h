// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "program/program.h"
#include "program/schedule.h"
#include "threads/runner.h"
#include "threads/team_runner.h"

namespace legate_diffuse {

// There is no memory for the scratch buffers of a task.
struct NoScratch : std::bad_alloc {
  explicit NoScratch(std::int64_t size) : size{size} {}

  std::int64_t size;  // in bytes
};

// A task's scratch memory up to this size is kept by each thread.
constexpr std::int64_t MAX_KEPT_SCRATCH = 4 * 1024 * 1024;

// Scratch memory of the calling thread: what it keeps, as much as it has needed so far, or, beyond
// 128 MiB, memory that lives as long as this.
class ThreadScratch {
 public:
  // Throws NoScratch.
  explicit ThreadScratch(std::int64_t size);

  [[nodiscard]] char* get() const { return own_ ? own_.get() : kept_; }

 private:
  char* kept_{};
  std::unique_ptr<char, void (*)(void*)> own_;
};

// Adds the memory of a program's scratch buffers, which lie in `scratch` at these offsets.
void add_scratch(const Program& program, const Schedule& schedule, const std::int64_t* offsets,
                 char* scratch, std::vector<Base>& bases);

// Runs the nests of a program, which `words` begin with.
void run_nests(Words words, std::int64_t num_nests, const Schedule& schedule, TeamRunner& runner);

// Runs a program that was checked, on scratch memory of this thread. `bases` and `shapes` are those
// of the arguments. Throws NoScratch, before any nest has run.
void run_program(const Program& program, std::vector<Base> bases,
                 const std::vector<RootShape>& shapes, const Sharing& sharing);

}  // namespace legate_diffuse
