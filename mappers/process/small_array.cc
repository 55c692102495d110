// SPDX-License-Identifier: Apache-2.0

#include "process/small_array.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <tuple>
#include <utility>

#include "memory/past_caches.h"
#include "memory/spare_memory.h"
#include "threads/copying.h"
#include "threads/program_runner.h"

namespace legate_diffuse {

namespace {

std::atomic<std::size_t> total{0};
std::atomic<std::size_t> given_away{0};

}  // namespace

SmallArray::SmallArray(RootShape shape)
    : shape_{std::move(shape)},
      num_bytes_{static_cast<std::size_t>(std::accumulate(
          shape_.extents.begin(), shape_.extents.end(), shape_.itemsize, std::multiplies<>{}))} {}

// Memory that holds zeros, or what is to be copied.
char* SmallArray::made() {
  if (later_) {
    const auto dim = static_cast<std::int64_t>(shape_.extents.size());

    allocate();
    copy_in_order(memory_.get(), later_->first, later_->strides.data(), dim, shape_.extents.data(),
                  shape_.itemsize);
    later_.reset();
    return memory_.get();
  }
  if (is_stale_) clear_memory(memory_.get(), num_bytes_);
  is_stale_ = false;
  if (memory_) return memory_.get();
  if (SpareMemory::takes(num_bytes_)) {
    allocate();
    clear_memory(memory_.get(), num_bytes_);
  } else {
    keep(std::calloc(std::max<std::size_t>(num_bytes_, 1), 1));
  }
  return memory_.get();
}

// The memory that others may use as well from now on; null if they may not.
std::shared_ptr<SmallArray::Shared> SmallArray::let_share() {
  if (is_mapped() || is_shown() || !is_valid()) return nullptr;
  elements();
  if (!shared_) {
    shared_ = std::make_shared<Shared>(Memory{nullptr, &std::free}, num_bytes_);
    shared_->memory = std::move(memory_);
    offset_ = 0;
  }
  return shared_;
}

bool SmallArray::share(SmallArray& other, const char* first) {
  auto source = other.let_share();

  if (!source) return false;

  const auto offset = reinterpret_cast<std::uintptr_t>(first) -
                      reinterpret_cast<std::uintptr_t>(source->memory.get());

  // what comes before it is far behind it
  if (offset > source->num_bytes || num_bytes_ > source->num_bytes - offset) return false;
  drop();
  shared_ = std::move(source);
  offset_ = offset;
  set_changed();
  return true;
}

bool SmallArray::share(SmallArray& other, const char* first, const std::int64_t* strides) {
  auto source = other.let_share();

  if (!source) return false;

  auto later = std::make_unique<Later>(
      Later{std::move(source), first, {strides, strides + shape_.extents.size()}});

  drop();
  later_ = std::move(later);
  set_changed();
  return true;
}

SmallArray::Shared::~Shared() {
  if (!memory) return;
  total -= num_bytes;
  SpareMemory::instance().free(memory.release(), num_bytes);
}

void SmallArray::leave_shared() {
  if (shared_.use_count() == 1) {
    if (shared_->num_bytes != num_bytes_) return;
    memory_ = std::move(shared_->memory);
    shared_.reset();
    return;
  }

  auto own = copy();

  drop_shared();
  keep(own.release());
}

SmallArray::Memory SmallArray::copy() {
  Memory made{static_cast<char*>(SpareMemory::instance().allocate(num_bytes_)), &std::free};
  const auto count = static_cast<std::int64_t>(num_bytes_) / shape_.itemsize;

  if (!made) throw std::bad_alloc{};
  copy_by_threads(made.get(), &shape_.itemsize, elements(), &shape_.itemsize, 1, &count,
                  static_cast<std::size_t>(shape_.itemsize));
  return made;
}

bool SmallArray::copy_mapped() {
  if (!mapped_ || !std::exchange(was_asked_for_, true)) return false;

  auto own = copy();

  mapped_ = nullptr;
  keep(own.release());
  set_changed();
  return true;
}

void SmallArray::drop_shared() {
  if (shared_ && is_used()) Background::keep(shared_);
  if (shared_ && is_lent()) kept_.push_back(shared_);
  shared_.reset();
  later_.reset();
}

void SmallArray::allocate() {
  keep(SpareMemory::instance().allocate(num_bytes_));
}

void SmallArray::adopt(void* memory) {
  drop();
  keep(memory);
  set_changed();
}

void SmallArray::keep(void* memory) {
  memory_.reset(static_cast<char*>(memory));
  if (!memory_) throw std::bad_alloc{};
  total += num_bytes_;
}

void SmallArray::fill(const char* element) {
  reserve();

  auto* const to = own_elements();
  const auto itemsize = static_cast<std::size_t>(shape_.itemsize);

  if (num_bytes_ > 0) std::memcpy(to, element, itemsize);
  for (auto done = itemsize; done < num_bytes_; done *= 2) {
    std::memcpy(to + done, to, std::min(done, num_bytes_ - done));
  }
  set_changed();
}

void SmallArray::map(char* memory) {
  unmap();
  drop();
  mapped_ = memory;
  was_asked_for_ = false;
  set_stored();
}

void SmallArray::unmap() {
  if (!mapped_) return;
  mapped_ = nullptr;
  is_valid_ = is_stored_ = false;
}

void SmallArray::take(SmallArray& other) {
  if (other.is_used()) Background::wait();
  drop();
  memory_ = std::move(other.memory_);
  shared_ = std::move(other.shared_);
  offset_ = other.offset_;
  later_ = std::move(other.later_);
  is_valid_ = std::exchange(other.is_valid_, false);
  is_stored_ = std::exchange(other.is_stored_, false);
  is_stale_ = std::exchange(other.is_stale_, false);
}

void SmallArray::drop() {
  if (mapped_) return;
  drop_shared();
  if (memory_ && is_used()) {
    Background::keep(std::make_shared<Shared>(std::move(memory_), num_bytes_));
  }
  work_ = 0;
  if (memory_) total -= num_bytes_;
  if (memory_ && is_lent()) {
    kept_.push_back(std::move(memory_));
  } else if (memory_) {
    SpareMemory::instance().free(memory_.release(), num_bytes_);
  }
  memory_.reset();
  is_valid_ = is_stored_ = is_stale_ = false;
}

void SmallArray::give_away() {
  if (is_used()) Background::wait();
  drop_shared();
  if (memory_) total -= num_bytes_;
  if (is_lent()) {
    kept_.push_back(std::move(memory_));
  } else {
    std::ignore = memory_.release();
  }
  ++given_away;
  is_valid_ = is_stored_ = is_stale_ = false;
}

std::size_t SmallArray::total_bytes() {
  return total;
}

std::size_t SmallArray::num_given_away() {
  return given_away;
}

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
      auto& argument = *arguments[index];
      const auto& [extents, itemsize] = shapes.emplace_back(argument.shape());
      const auto dim = static_cast<std::int64_t>(extents.size());

      // what nobody reads first is written in full
      if (!reads(privileges[index])) argument.reserve();
      if (writes(privileges[index])) argument.own();

      auto* const elements = const_cast<char*>(argument.elements());

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
