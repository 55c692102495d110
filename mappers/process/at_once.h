// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate_defines.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "process/fields.h"
#include "process/lazy_thunk.h"
#include "process/small_array.h"
#include "program/kernel_table.h"
#include "threads/copying.h"

namespace legate_diffuse {

class Run;

// The slots of stores/root.py, view.py and layout.py that operations look at.
struct StoreFields {
  // `most_bytes` is the size of a small array.
  StoreFields(PyObject* root_type, PyObject* view_type, PyObject* layout_type,
              std::int64_t most_bytes);

  Field view_root, view_layout;
  Field layout_form;
  Field constant, constant_bytes, dtype, escaped, fusable, held, initial, lent, real;
  Field scalar_storage, shape, shared, small, version;
  std::int64_t most_bytes;
};

// Takes note of the classes of stores.
void know_stores(const StoreFields& fields);

// Null before `know_stores`. Never destroyed: arrays may outlive the interpreter.
extern const StoreFields* known_store_fields;

// Throws std::logic_error before `know_stores`.
inline const StoreFields& store_fields() {
  if (!known_store_fields) throw std::logic_error{"the classes of stores are not known yet"};
  return *known_store_fields;
}

// Whether the application may hold memory of a root's that it does not see from here.
bool is_held_elsewhere(const StoreFields& fields, PyObject* root);

// Whether nothing was written to a root yet (`Root.undefined`).
bool is_undefined(const StoreFields& fields, PyObject* root);

// Gives a root what keeps its elements in this process, once they are there; see `Root.small`.
PyObject* new_array(const StoreFields& fields, PyObject* root);

// Whether so many words are alike. They are few, and the library's function takes longer.
inline bool are_alike(const std::int64_t* some, const std::int64_t* others, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) {
    if (some[at] != others[at]) return false;
  }
  return true;
}

// The bytes of an element of a type of this name.
std::int64_t itemsize_of(PyObject* dtype);

// What a layout shows of a root in row-major order. Python keeps it with the layout as bytes, in
// words of 64 bits (stores/form.py):
//
//   is_affine volume end dim offset extents[dim] strides[dim]
//
// Offset, strides and `end`, which nothing that is shown reaches, count elements.
struct Form {
  Form() = default;
  explicit Form(PyObject* bytes);
  explicit Form(const std::int64_t* words);

  [[nodiscard]] bool has_shape_of(const Form& other) const;

  // How many points there are, as plans depend on it: see `Layout.points` (stores/layout.py).
  [[nodiscard]] std::int64_t points() const;

  // Whether it shows the same elements, in the same shape.
  [[nodiscard]] bool operator==(const Form& other) const;

  void write_to(FormWords& words) const;

  std::int64_t is_affine, volume, end, dim, offset;
  const std::int64_t* extents;
  const std::int64_t* strides;
};

// Whether an operation can run at once: UNKNOWN if Python must prepare something first.
enum class Answer { DONE, UNKNOWN, IMPOSSIBLE };

using Strides = std::array<std::int64_t, LEGATE_MAX_DIM>;

// Extents, which operands may have in common.
struct Shape {
  // Lets it be that of an operand as well, as NumPy repeats both; false if they do not fit.
  bool add(const Form& form);

  [[nodiscard]] bool is_of(const Form& form) const {
    return dim == form.dim && are_alike(form.extents, extents.data(), dim);
  }

  [[nodiscard]] std::int64_t volume() const;

  std::int64_t dim{};
  std::array<std::int64_t, LEGATE_MAX_DIM> extents{};
};

// As in launch/few_points.py: an operation on more points is worth a place in a window, but for one
// that reads up to so many and writes few elements.
constexpr std::int64_t MOST_LOOPED = 32768;
// What moves elements, or is no loop of ours, looks at no more of them here.
constexpr std::int64_t MOST_POINTS = 49152;
constexpr std::int64_t MOST_REDUCED = 1048576;
constexpr std::int64_t MOST_RESULTS = 4096;

// Whether elements are at most as many, or integers and truth values of no more bytes than so many
// doubles: to go over narrow ones takes less time, and floats come in chains, of which a window
// makes one loop.
bool are_few(std::int64_t volume, PyObject* dtype, std::int64_t most);

// A view of an operation whose elements are in this process, or a number. References are borrowed.
// What the elements are is known once a view was looked at.
struct LocalOperand {
  // Lets it be a number.
  void set_number(const char* value);

  // Answers DONE if the elements of a view, or of a lazy thunk, are here, or nothing was written to
  // them yet, and no operation that waits uses them.
  // Where `are_few` says that there are too many it answers IMPOSSIBLE.
  Answer look(const StoreFields& fields, PyObject* view, bool changes,
              std::int64_t most = MOST_POINTS);

  // The same for elements alone; false if they are not here, or it is a number.
  bool is_here(PyObject* view, bool changes, std::int64_t most = MOST_POINTS);

  // The same for any number of elements, of which an index may show a few.
  bool is_in_process(PyObject* view, bool changes);

  // Lets it show what a view, or a lazy thunk, shows, wherever the elements are; false if that is
  // not known yet.
  bool shows(PyObject* view);

  // Whether the elements that it shows so are in this process.
  bool is_in_process();

  // Lets it show what a basic index does; false if that is another one, or left to Python: there is
  // no element, or one would repeat. It is `copied` where an index is an array without dimensions,
  // and where integers lead to a single element.
  bool index(PyObject* key);

  // The same at an integer for each dimension; false if these are others.
  bool index_element(PyObject* const* parts);

  // Whether its root has so few elements that what changes it may read many.
  [[nodiscard]] bool has_few_elements() const;

  // Whether it is the same view as another operand.
  [[nodiscard]] bool is_same(const LocalOperand& other) const;

  // Whether its elements come one after the other in memory.
  [[nodiscard]] bool is_in_order() const;

  // Of elements that are here, in bytes; zeros if one repeats.
  [[nodiscard]] Strides byte_strides() const;

  // Copies elements that are here, one behind the other.
  void copy_to(char* to) const;

  // Lets it repeat over a shape as NumPy does; false if it cannot.
  bool broadcast(const std::int64_t* shape, std::int64_t dim);

  // Lets it show the same elements in another shape; strides count elements.
  void show(std::int64_t dim, const std::int64_t* extents, const std::int64_t* strides);

  PyObject* root{};  // or the lazy thunk
  PyObject* layout;  // null for a part of which only elements were asked for
  PyObject* dtype;   // the name, which is one object for each type
  SmallArray* small{};
  const char* constant{};  // its value, of SCALAR_SIZE bytes; null if it may change
  Form form;
  bool repeats{};  // one element, whatever the layout shows
  bool copied{};   // what an index shows of it becomes an array of its own

 private:
  Answer find(const StoreFields& fields, PyObject* view, bool changes);
  void find_root(const StoreFields& fields, PyObject* view);
  bool find_form(const StoreFields& fields);
  [[nodiscard]] bool may_be_used(const StoreFields& fields) const;
  bool find_elements(const StoreFields& fields);

  // the part that it shows, if that has no layout yet
  const LazyThunk* part_{};
  // extents and strides of a form that is not the layout's
  std::array<std::int64_t, 2 * LEGATE_MAX_DIM> own_;
};

// A basic index that is one of an operand, with ints of Python's in place of other numbers.
nanobind::object plain_index(PyObject* key);

constexpr std::size_t MAX_OPERANDS = 16;
using LocalOperands = std::array<LocalOperand, MAX_OPERANDS>;

// Where the first element that an operand shows lies, to be read.
const char* first_element(const LocalOperand& operand);

// In line, as are all other parts of a copy of 1,000 elements, which takes 140 ns.
inline void LocalOperand::copy_to(char* to) const {
  copy_in_order(to, first_element(*this), byte_strides().data(), form.dim, form.extents,
                small->shape().itemsize);
}

// The same, to be changed.
char* first_own_element(const LocalOperand& operand);

// Takes note that a root's elements change.
void note_new_version(const StoreFields& fields, PyObject* root);

// Takes note that an operand was written to.
void note_change(const StoreFields& fields, const LocalOperand& operand);

// A loop nest of an operation. `shape` is the number of the operand that has the nest's shape,
// `arguments` are the operands of the kernel's, of which points use any elements if they are
// `whole`. A scalar of the kernel is the value of a constant operand, by its number, or from -1
// downwards the last, the last but one of the operation's own.
struct NestAtOnce {
  const Kernel* kernel;
  std::size_t shape;
  std::vector<std::size_t> arguments;
  std::vector<bool> whole;
  std::vector<std::int64_t> scalars;
};

// How to run operations of one kind on small arrays. What is known depends on what the operands
// show of their roots, and which of them are the same.
class Operation {
 public:
  // What people call it, for each operand whether it changes, how many operations it is, and how
  // many of them fill.
  Operation(std::string name, std::vector<bool> changes, std::int64_t number, std::int64_t fills);

  // Runs it. `scalars` are its own, of SCALAR_SIZE bytes each.
  Answer run(const StoreFields& fields, const LocalOperands& operands, const char* scalars,
             std::size_t num_scalars);

  // Lets operands like these be run from now on, by nests; by none if that is impossible.
  void add(const LocalOperands& operands, std::vector<NestAtOnce> nests);

  // The nest that runs for operands like these; null if it is not known, or not the only one.
  [[nodiscard]] const NestAtOnce* only_nest(const LocalOperands& operands) const;

  // What a run of it is called.
  [[nodiscard]] const char* name() const { return name_.c_str(); }

  // Counts that it ran.
  void count(Run& run) const;

  [[nodiscard]] std::size_t num_operands() const { return changes_.size(); }
  [[nodiscard]] bool changes(std::size_t operand) const { return changes_[operand]; }

 private:
  using Pattern = std::array<std::int64_t, MAX_OPERANDS>;

  struct Variant {
    Pattern pattern;
    std::vector<NestAtOnce> nests;
  };

  using Variants = std::vector<Variant>;

  [[nodiscard]] Variants::const_iterator find(const LocalOperands& operands) const;
  [[nodiscard]] Pattern pattern_of(const LocalOperands& operands) const;
  [[nodiscard]] bool is_torn(const LocalOperands& operands) const;

  std::string name_;
  std::vector<bool> changes_;
  std::int64_t number_;
  std::int64_t fills_;
  Variants variants_;
};

}  // namespace legate_diffuse
