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

namespace legate_diffuse {

namespace {

std::atomic<std::size_t> total{0};
std::atomic<std::size_t> given_away{0};

template <typename T>
void add_zeros(char* elements, std::int64_t num_bytes) {
  auto* const numbers = reinterpret_cast<T*>(elements);

  for (std::int64_t at = 0; at < num_bytes / std::int64_t{sizeof(T)}; ++at) numbers[at] += T{0};
}

}  // namespace

void copy_strided(char* to, const char* from, const std::int64_t* strides, std::int64_t dim,
                  const std::int64_t* extents, std::int64_t itemsize, Precision adds_zero) {
  const auto num_bytes = std::accumulate(extents, extents + dim, itemsize, std::multiplies<>{});

  copy_in_order(to, from, strides, dim, extents, itemsize);
  if (adds_zero == Precision::DOUBLE) add_zeros<double>(to, num_bytes);
  if (adds_zero == Precision::SINGLE) add_zeros<float>(to, num_bytes);
}

SmallArray::SmallArray(RootShape shape)
    : shape_{std::move(shape)},
      num_bytes_{static_cast<std::size_t>(std::accumulate(
          shape_.extents.begin(), shape_.extents.end(), shape_.itemsize, std::multiplies<>{}))} {}

SmallArray::~SmallArray() {
  if (mapped_ && shared_) leave_to_readers();
  drop();
}

void SmallArray::copy_later() {
  allocate();
  copy_strided(memory_.get(), later_->first, later_->strides.data(),
               static_cast<std::int64_t>(shape_.extents.size()), shape_.extents.data(),
               shape_.itemsize, later_->adds_zero);
  later_.reset();
}

// Memory that holds zeros, or what is to be copied.
char* SmallArray::made() {
  if (reads_in_order()) return const_cast<char*>(later_->first);
  if (later_) {
    copy_later();
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
  if (is_shown() || !is_valid() || (mapped_ && !keeper_)) return nullptr;
  if (reads_in_order()) return later_->source;
  if (mapped_) {
    if (!shared_) shared_ = std::make_shared<Shared>(keeper_, num_bytes_);
    return shared_;
  }
  elements();
  if (!shared_) {
    shared_ = std::make_shared<Shared>(Memory{nullptr, &std::free}, num_bytes_);
    shared_->memory = std::move(memory_);
    offset_ = 0;
  }
  return shared_;
}

bool SmallArray::share(SmallArray& other, const char* first) {
  if (other.mapped_ || other.reads_in_order()) {
    const auto dim = static_cast<std::int64_t>(shape_.extents.size());
    const auto strides = row_major_strides(dim, shape_.extents.data(), shape_.itemsize);

    if (!read_later(other, first, strides.data(), Precision::NONE)) return false;
    later_->is_in_order = true;
    return true;
  }

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

bool SmallArray::read_later(SmallArray& other, const char* first, const std::int64_t* strides,
                            Precision adds_zero) {
  auto source = other.let_share();

  if (!source) return false;
  drop();
  later_ = std::make_unique<Later>(this, std::move(source), first, strides, adds_zero);
  set_changed();
  return true;
}

SmallArray::Later::Later(SmallArray* reader, std::shared_ptr<Shared> source, const char* first,
                         const std::int64_t* strides, Precision adds_zero)
    : reader{reader},
      source{std::move(source)},
      first{first},
      strides{strides, strides + reader->shape().extents.size()},
      adds_zero{adds_zero} {
  this->source->readers.push_back(reader);
}

SmallArray::Later::~Later() {
  auto& readers = source->readers;

  readers.erase(std::find(readers.begin(), readers.end(), reader));
}

void SmallArray::Later::pass_to(SmallArray* other) {
  *std::find(source->readers.begin(), source->readers.end(), reader) = other;
  reader = other;
}

SmallArray::Shared::~Shared() {
  if (!memory) return;
  total -= num_bytes;
  SpareMemory::instance().free(memory.release(), num_bytes);
}

bool SmallArray::Shared::is_read_of(std::size_t most) const {
  const auto sum = [](std::size_t before, const auto* each) { return before + each->num_bytes_; };

  return std::accumulate(readers.begin(), readers.end(), std::size_t{0}, sum) <= most;
}

void SmallArray::Shared::copy_to_readers() {
  while (!readers.empty()) readers.back()->copy_later();
}

// Whether all others that use the memory are to copy parts of it.
bool SmallArray::has_only_readers() const {
  return shared_.use_count() == 1 + static_cast<std::int64_t>(shared_->readers.size());
}

void SmallArray::leave_shared() {
  // what is mapped has readers alone
  if (mapped_ || (has_only_readers() && shared_->is_read_of(num_bytes_))) {
    shared_->copy_to_readers();
  }
  if (mapped_) return shared_.reset();
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

void SmallArray::drop_shared() {
  if (shared_) leave_to_readers();
  later_.reset();
}

// Much memory is not kept for the few elements of it that others read.
void SmallArray::leave_to_readers() {
  if (has_only_readers() && shared_->is_read_of(shared_->num_bytes / 2)) {
    try {
      shared_->copy_to_readers();
    } catch (const std::bad_alloc&) {
      // then it is kept
    }
  }
  if (is_used()) Background::keep(shared_);
  if (is_lent()) kept_.push_back(shared_);
  shared_.reset();
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

void SmallArray::map(char* memory, std::shared_ptr<void> keeper) {
  unmap();
  drop();
  mapped_ = memory;
  keeper_ = std::move(keeper);
  set_stored();
}

void SmallArray::unmap() {
  if (!mapped_) return;
  own();
  mapped_ = nullptr;
  keeper_.reset();
  is_valid_ = is_stored_ = false;
}

void SmallArray::take(SmallArray& other) {
  if (other.is_used()) Background::wait();
  drop();
  memory_ = std::move(other.memory_);
  shared_ = std::move(other.shared_);
  offset_ = other.offset_;
  later_ = std::move(other.later_);
  if (later_) later_->pass_to(this);
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

}  // namespace legate_diffuse
