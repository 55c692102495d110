// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "program/program.h"
#include "threads/background.h"

namespace legate_diffuse {

// Of floating-point numbers.
enum class Precision { NONE, SINGLE, DOUBLE };

// Copies elements to row-major order; see `read_later`.
void copy_strided(char* to, const char* from, const std::int64_t* strides, std::int64_t dim,
                  const std::int64_t* extents, std::int64_t itemsize, Precision adds_zero);

// The elements of a small array in memory of this process, in row-major order. They are the array's
// value while it is valid; Legate's store has the same value while it is stored as well. The memory
// may be Legate's, who maps it for this process and keeps it up to date: then the array is valid
// and stored until the memory is given back. Used with the GIL held, or while the thread that uses
// arrays waits.
class SmallArray {
 public:
  explicit SmallArray(RootShape shape);
  ~SmallArray();
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
    if (later_) copy_later();
  }

  // Has elements of another array, from this one on, in the same memory until either array changes.
  // False if they are elsewhere, or may change unseen: the application sees them.
  bool share(SmallArray& other, const char* first);

  // Has elements of another array, from that one on, with strides in bytes. They are copied when
  // somebody looks at them, or before they change. If `adds_zero`, they are numbers of this
  // precision, and no zero of theirs has a sign. False if they are elsewhere, or may change unseen.
  bool read_later(SmallArray& other, const char* first, const std::int64_t* strides,
                  Precision adds_zero);

  // Gets memory, which is not set, for elements that are all about to be written.
  void reserve() {
    if (shared_ || later_) release();
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
    release();
    is_valid_ = is_stored_ = false;
    is_stale_ = memory_ != nullptr;
  }

  // Uses memory that Legate has mapped, with all elements, until it is given back. It stays as it
  // is, unless it is changed from here, as long as there is a copy of `keeper`; without one it may
  // change unseen.
  void map(char* memory, std::shared_ptr<void> keeper);
  void unmap();
  [[nodiscard]] bool is_mapped() const { return mapped_ != nullptr; }

  // Comes before anybody looks at the elements of others for an operation that changes this array:
  // these may be read where it is mapped.
  void prepare_change() {
    if (mapped_) own();
  }

  // What is mapped may be changed from elsewhere from now on.
  void expose() {
    prepare_change();
    keeper_.reset();
  }

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
  void lend() {
    ++num_lent_;
    // what is another array's may change
    if (later_) own();
  }
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

  // Whether such a program may use the elements: nobody else does without asking here. What is
  // mapped may go back to Legate.
  [[nodiscard]] bool may_be_used() const { return !is_mapped() && !reads_in_order() && !is_lent(); }
  void use(std::uint64_t work) { work_ = work; }

  // The memory that all of them take.
  static std::size_t total_bytes();

  // How many have been given away.
  static std::size_t num_given_away();

 private:
  using Memory = std::unique_ptr<char, decltype(&std::free)>;

  // Memory of several arrays, which nobody changes: of ours, or else what Legate maps.
  struct Shared {
    Shared(Memory memory, std::size_t num_bytes)
        : memory{std::move(memory)}, num_bytes{num_bytes} {}
    Shared(std::shared_ptr<void> keeper, std::size_t num_bytes)
        : keeper{std::move(keeper)}, num_bytes{num_bytes} {}
    ~Shared();
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    // Whether all the readers copy takes at most so many bytes.
    [[nodiscard]] bool is_read_of(std::size_t most) const;

    // Lets the readers copy their elements now. Throws std::bad_alloc.
    void copy_to_readers();

    Memory memory{nullptr, &std::free};
    std::shared_ptr<void> keeper;
    std::size_t num_bytes;
    std::vector<SmallArray*> readers;  // whose elements are to be copied
  };

  // Elements in the memory of others that are to be copied.
  struct Later {
    Later(SmallArray* reader, std::shared_ptr<Shared> source, const char* first,
          const std::int64_t* strides, Precision adds_zero);
    ~Later();
    Later(const Later&) = delete;
    Later& operator=(const Later&) = delete;

    void pass_to(SmallArray* other);

    SmallArray* reader;
    std::shared_ptr<Shared> source;
    const char* first;
    std::vector<std::int64_t> strides;
    Precision adds_zero;
    bool is_in_order{};  // and may be read where it is
  };

  void keep(void* memory);
  void allocate();
  char* made();
  void copy_later();
  std::shared_ptr<Shared> let_share();
  [[nodiscard]] bool reads_in_order() const { return later_ && later_->is_in_order; }
  [[nodiscard]] bool has_only_readers() const;
  [[nodiscard]] Memory copy();
  void leave_shared();
  void drop_shared();
  void leave_to_readers();
  void release() { mapped_ ? own() : drop_shared(); }

  RootShape shape_;
  std::size_t num_bytes_;
  Memory memory_{nullptr, &std::free};
  std::shared_ptr<Shared> shared_;  // in place of it
  std::size_t offset_{};            // there
  std::unique_ptr<Later> later_;    // in place of both
  std::int64_t num_lent_{}, num_shown_{};
  std::vector<std::shared_ptr<void>> kept_;
  char* mapped_{};  // then what is shared is this memory, and has readers alone
  std::shared_ptr<void> keeper_;
  bool is_valid_{};
  bool is_stored_{};
  bool is_stale_{};       // the memory holds what it held before
  std::uint64_t work_{};  // the last in the background that used the elements
};

}  // namespace legate_diffuse
