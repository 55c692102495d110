// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "program/privilege.h"
#include "program/program.h"
#include "program/schedule.h"
#include "threads/background.h"

namespace legate_diffuse {

// The elements of a small array in memory of this process, in row-major order. They are the array's
// value while it is valid; Legate's store has the same value while it is stored as well. The memory
// may be Legate's, who maps it for this process and keeps it up to date: then the array is valid
// and stored until the memory is given back. Used with the GIL held, or while the thread that uses
// arrays waits.
class SmallArray {
 public:
  explicit SmallArray(RootShape shape);
  ~SmallArray() { drop(); }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;

  [[nodiscard]] bool is_valid() const { return is_valid_; }
  [[nodiscard]] bool is_stored() const { return is_stored_; }
  [[nodiscard]] const RootShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t num_bytes() const { return num_bytes_; }

  // The first element, to be read; zeros where nothing was written.
  const char* elements() {
    if (is_used()) Background::wait();
    if (mapped_) return mapped_;
    if (shared_) return shared_->memory.get() + offset_;
    return memory_ && !is_stale_ ? memory_.get() : made();
  }

  // The same, to be changed.
  char* own_elements() {
    own();
    return const_cast<char*>(elements());
  }

  // Uses memory that no other array does.
  void own() {
    if (shared_) leave_shared();
  }

  // Has elements of another array, from this one on, in the same memory until either array changes.
  // False if the elements are elsewhere, or may change unseen: the application sees them, or Legate
  // maps them.
  bool share(SmallArray& other, const char* first);

  // The same in another order: from that one on, with strides in bytes. They are copied when
  // somebody looks at them.
  bool share(SmallArray& other, const char* first, const std::int64_t* strides);

  // Gets memory, which is not set, for elements that are all about to be written.
  void reserve() {
    if (shared_ || later_) drop_shared();
    is_stale_ = false;
    if (!memory_ && !mapped_) allocate();
  }

  // Takes over memory of this size with all elements, which std::free can free. It is not mapped.
  void adopt(void* memory);

  // Makes all elements equal to one.
  void fill(const char* element);

  void set_changed() { is_valid_ = true, is_stored_ = is_mapped(); }
  void set_stored() { is_valid_ = true, is_stored_ = true; }

  // Makes all elements zero, in memory once somebody looks at them: most are written before.
  void clear() { forget(), set_changed(); }

  // Has no value any more, and keeps its memory.
  void forget() {
    drop_shared();
    is_valid_ = is_stored_ = false;
    is_stale_ = memory_ != nullptr;
  }

  // Has a copy of what Legate maps, as if it had been computed here. False the first time after it
  // was mapped: what is asked for once is better copied alone, as tasks may want the rest there.
  bool copy_mapped();

  // Uses memory that Legate has mapped, with all elements, until it is given back.
  void map(char* memory);
  void unmap();
  [[nodiscard]] bool is_mapped() const { return mapped_ != nullptr; }

  // Takes over the memory of another array of this shape, which has no value then. Neither is
  // mapped.
  void take(SmallArray& other);

  // The memory is freed, and the array's value is elsewhere. What is mapped stays.
  void drop();

  // The same, but somebody else frees the memory, with std::free; or a copy, where it may not be
  // given away.
  void give_away();
  [[nodiscard]] bool may_be_given_away() const { return !is_lent() && !shared_ && !later_; }

  // Memory that is lent stays where it is until it is back, also where the array uses it no longer.
  void lend() { ++num_lent_; }
  void take_back() {
    if (--num_lent_ == 0) kept_.clear();
  }
  [[nodiscard]] bool is_lent() const { return num_lent_ > 0; }

  // The same for what the application reads and writes as it likes.
  void show() {
    own();
    lend();
    ++num_shown_;
    set_changed();
  }
  void hide() {
    --num_shown_;
    take_back();
  }
  [[nodiscard]] bool is_shown() const { return num_shown_ > 0; }

  // Whether a program that runs in the background uses the elements, or may do so.
  [[nodiscard]] bool is_used() const { return Background::is_current(work_); }

  // Whether such a program may use the elements: nobody else does without asking here.
  [[nodiscard]] bool may_be_used() const { return !is_mapped() && !is_lent(); }
  void use(std::uint64_t work) { work_ = work; }

  // The memory that all of them take.
  static std::size_t total_bytes();

  // How many have been given away.
  static std::size_t num_given_away();

 private:
  using Memory = std::unique_ptr<char, decltype(&std::free)>;

  // Memory of several arrays.
  struct Shared {
    Shared(Memory memory, std::size_t num_bytes)
        : memory{std::move(memory)}, num_bytes{num_bytes} {}
    ~Shared();
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    Memory memory;
    std::size_t num_bytes;
  };

  // Elements in the memory of others that are to be copied.
  struct Later {
    std::shared_ptr<Shared> source;
    const char* first;
    std::vector<std::int64_t> strides;
  };

  void keep(void* memory);
  void allocate();
  char* made();
  std::shared_ptr<Shared> let_share();
  [[nodiscard]] Memory copy();
  void leave_shared();
  void drop_shared();

  RootShape shape_;
  std::size_t num_bytes_;
  Memory memory_{nullptr, &std::free};
  std::shared_ptr<Shared> shared_;  // in place of it
  std::size_t offset_{};            // there
  std::unique_ptr<Later> later_;    // in place of both
  std::int64_t num_lent_{}, num_shown_{};
  std::vector<std::shared_ptr<void>> kept_;
  char* mapped_{};
  bool is_valid_{};
  bool is_stored_{};
  bool was_asked_for_{};  // to be copied
  bool is_stale_{};       // the memory holds what it held before
  std::uint64_t work_{};  // the last in the background that used the elements
};

// Runs a program over arrays of this process, in this thread and those that help it. The program
// was checked. Of each array it says what the program does with it; those that it reads have a
// value. Throws std::bad_alloc before it has changed anything.
void run_here(const Program& program, const std::vector<SmallArray*>& arguments,
              const Privilege* privileges, const Sharing& sharing);

// The same; in the background, from a copy of its words, if it takes longer than that, and nobody
// else uses the arrays.
void run_apart(const std::vector<std::int64_t>& words, const Program& program,
               const std::vector<SmallArray*>& arguments, const Privilege* privileges,
               const Sharing& sharing);

// Programs over fewer points of loops do not run in the background. Returns what it was before.
std::int64_t set_least_apart(std::int64_t points);

}  // namespace legate_diffuse
