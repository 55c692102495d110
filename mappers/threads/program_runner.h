// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "program/program.h"
#include "program/schedule.h"
#include "program/scratch_plan.h"
#include "threads/runner.h"
#include "threads/team_runner.h"

namespace legate_diffuse {

// There is no memory for the scratch buffers of a task.
class NoScratch : public std::bad_alloc {
 public:
  explicit NoScratch(std::int64_t num_bytes);

  [[nodiscard]] const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  std::string sentence_;
};

// A task's scratch memory up to this size is kept by each thread.
constexpr std::int64_t MAX_KEPT_SCRATCH = 128 * 1024 * 1024;

// Scratch memory of the calling thread: what it keeps, as much as it has needed so far, or, if it
// is too much to be kept, memory that any thread may have after this.
class ThreadScratch {
 public:
  // Throws NoScratch.
  explicit ThreadScratch(std::int64_t size);
  ~ThreadScratch();
  ThreadScratch(const ThreadScratch&) = delete;
  ThreadScratch& operator=(const ThreadScratch&) = delete;

  [[nodiscard]] char* get() const { return memory_; }

 private:
  char* memory_{};
  std::int64_t given_back_{};  // so many bytes
};

// Adds the memory of a program's scratch buffers, which lie in `scratch` as planned.
void add_scratch(const Program& program, const Schedule& schedule, const ScratchPlan& plan,
                 char* scratch, std::vector<Base>& bases);

// The memory of scratch buffers with which a program runs: see `run_program`.
std::int64_t scratch_bytes(const Program& program, const std::vector<RootShape>& shapes,
                           const Sharing& sharing);

// Runs a program that was checked, on scratch memory of this thread. `bases` and `shapes` are those
// of the arguments. Throws NoScratch, before any nest has run.
void run_program(const Program& program, std::vector<Base> bases,
                 const std::vector<RootShape>& shapes, const Sharing& sharing);

}  // namespace legate_diffuse
