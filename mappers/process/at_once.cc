// SPDX-License-Identifier: Apache-2.0

#include "process/at_once.h"

#include <legate.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "process/disjoint.h"
#include "process/numbers.h"
#include "process/runs.h"
#include "process/window.h"
#include "program/elements.h"
#include "program/joined_row.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

bool is_set(PyObject* value) {
  return value && value != Py_None;
}

// Whether the application, which has got hold of the memory of a root, sees that of this process.
bool is_seen(PyObject* small) {
  if (!is_set(small)) return false;

  const auto& array = *nb::inst_ptr<SmallArray>(small);

  return array.is_mapped() || array.is_shown();
}

// Whether an array is small: has as many elements as one of numbers of 8 bytes may have, or fewer
// bytes.
bool is_small(const StoreFields& fields, std::int64_t num_bytes, std::int64_t itemsize) {
  constexpr std::int64_t NUMBER = 8;

  return num_bytes / std::max<std::int64_t>(itemsize / NUMBER, 1) <= fields.most_bytes;
}

// Makes room for the elements of a root to which nothing was written; null if it is not small.
PyObject* make_room(const StoreFields& fields, PyObject* root) {
  auto* const shape = fields.shape.of(root);
  const auto itemsize = itemsize_of(fields.dtype.of(root));
  auto bytes = itemsize;

  if (is_set(fields.real.of(root)) || is_set(fields.initial.of(root))) return nullptr;
  for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(shape); ++d) {
    if (__builtin_mul_overflow(bytes, PyLong_AsLongLong(PyTuple_GET_ITEM(shape, d)), &bytes)) {
      return nullptr;
    }
  }
  // Legate does not let a region without dimensions be read
  if (!is_small(fields, bytes, itemsize) ||
      (PyTuple_GET_SIZE(shape) == 0 && fields.scalar_storage.of(root) != Py_True)) {
    return nullptr;
  }
  return new_array(fields, root);
}

}  // namespace

bool is_held_elsewhere(const StoreFields& fields, PyObject* root) {
  if (fields.shared.of(root) == Py_False) return false;

  auto* const small = fields.small.of(root);

  if (is_seen(small)) return false;

  // it may have had that of this process only, and let go of it
  auto* const lent = fields.lent.of(root);

  return !is_set(small) || !lent || !PyTuple_CheckExact(lent) || PyTuple_GET_SIZE(lent) > 0;
}

bool is_undefined(const StoreFields& fields, PyObject* root) {
  auto* const small = fields.small.of(root);
  const auto is_here = is_set(small) && nb::inst_ptr<SmallArray>(small)->is_valid();

  return !is_set(fields.real.of(root)) && !is_here;
}

PyObject* new_array(const StoreFields& fields, PyObject* root) {
  auto* const shape = fields.shape.of(root);
  RootShape room{{}, itemsize_of(fields.dtype.of(root))};

  for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(shape); ++d) {
    room.extents.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(shape, d)));
  }

  auto made = new_small_array(room);

  // unless a finalizer has made one meanwhile
  if (!is_set(fields.small.of(root))) fields.small.set(root, made.release().ptr());
  return fields.small.of(root);
}

std::int64_t itemsize_of(PyObject* dtype) {
  Py_ssize_t size{};
  const auto* const text = PyUnicode_AsUTF8AndSize(dtype, &size);
  std::int64_t bits = 0;

  if (!text) throw nb::python_error();
  if (std::string_view{text} == "rect1") return 2 * sizeof(std::int64_t);
  for (Py_ssize_t at = 0; at < size; ++at) {
    if (text[at] >= '0' && text[at] <= '9') bits = bits * 10 + (text[at] - '0');
  }
  return bits == 0 ? 1 : bits / 8;  // bool
}

StoreFields::StoreFields(PyObject* root_type, PyObject* view_type, PyObject* layout_type,
                         std::int64_t most_bytes)
    : view_root{view_type, "root"},
      view_layout{view_type, "layout"},
      layout_form{layout_type, "form"},
      constant{root_type, "constant"},
      constant_bytes{root_type, "constant_bytes"},
      dtype{root_type, "dtype"},
      escaped{root_type, "escaped"},
      fusable{root_type, "fusable"},
      held{root_type, "held"},
      initial{root_type, "initial"},
      lent{root_type, "lent"},
      real{root_type, "real"},
      scalar_storage{root_type, "scalar_storage"},
      shape{root_type, "shape"},
      shared{root_type, "shared"},
      small{root_type, "small"},
      version{root_type, "version"},
      most_bytes{most_bytes} {}

const StoreFields* known_store_fields = nullptr;

void know_stores(const StoreFields& fields) {
  known_store_fields = new StoreFields{fields};
}

Form::Form(PyObject* bytes)
    : Form{reinterpret_cast<const std::int64_t*>(PyBytes_AS_STRING(bytes))} {}

Form::Form(const std::int64_t* words) {
  is_affine = words[0];
  volume = words[1];
  end = words[2];
  dim = words[3];
  offset = words[4];
  extents = words + FORM_HEAD;
  strides = extents + dim;
}

bool Form::has_shape_of(const Form& other) const {
  return dim == other.dim && are_alike(extents, other.extents, dim);
}

std::int64_t Form::points() const {
  const auto last = dim > 1 ? extents[dim - 1] : 0;
  const auto in_short_rows = 1 < last && last < JoinedRow::SHORT_LOOP;

  if (in_short_rows && volume >= JoinedRow::SHORT_LOOP * JoinedRow::SHORT_LOOP) return 3;
  return std::min<std::int64_t>(volume, 2);
}

bool Form::operator==(const Form& other) const {
  return offset == other.offset && has_shape_of(other) && are_alike(strides, other.strides, dim);
}

void Form::write_to(FormWords& words) const {
  words[0] = is_affine, words[1] = volume, words[2] = end, words[3] = dim, words[4] = offset;

  auto* const rest = words.data() + FORM_HEAD;

  for (std::int64_t d = 0; d < dim; ++d) rest[d] = extents[d], rest[dim + d] = strides[d];
}

bool Shape::add(const Form& form) {
  for (; dim < form.dim; ++dim) {
    std::copy_backward(extents.begin(), extents.begin() + dim, extents.begin() + dim + 1);
    extents[0] = 1;
  }
  for (std::int64_t d = 1; d <= form.dim; ++d) {
    const auto extent = form.extents[form.dim - d];

    if (extents[dim - d] == 1) extents[dim - d] = extent;
    if (extent != 1 && extent != extents[dim - d]) return false;
  }
  return true;
}

std::int64_t Shape::volume() const {
  return std::accumulate(extents.begin(), extents.begin() + dim, std::int64_t{1},
                         std::multiplies<>{});
}

bool are_few(std::int64_t volume, PyObject* dtype, std::int64_t most) {
  if (volume <= most) return true;

  const auto is_narrow = std::string_view{"biu"}.find(text_of(dtype)[0]) != std::string_view::npos;

  return is_narrow && volume * itemsize_of(dtype) <= 8 * most;
}

Answer LocalOperand::look(const StoreFields& fields, PyObject* view, bool changes,
                          std::int64_t most) {
  const auto answer = find(fields, view, changes);

  if (answer != Answer::DONE || form.volume <= most) return answer;
  return small && are_few(form.volume, dtype, most) ? answer : Answer::IMPOSSIBLE;
}

void LocalOperand::set_number(const char* value) {
  root = layout = dtype = nullptr;
  small = nullptr;
  constant = value;
  repeats = copied = false;
}

Answer LocalOperand::find(const StoreFields& fields, PyObject* view, bool changes) {
  find_root(fields, view);
  if (!may_be_used(fields)) return Answer::IMPOSSIBLE;
  if (!lazy_thunk(root) && is_set(fields.constant.of(root))) {
    auto* const bytes = fields.constant_bytes.of(root);

    if (part_) return Answer::IMPOSSIBLE;
    if (changes || !is_set(bytes)) return Answer::UNKNOWN;
    constant = PyBytes_AS_STRING(bytes);
    form = {};
    return Answer::DONE;
  }
  if (!find_form(fields)) return Answer::UNKNOWN;
  // Legate refuses operations on more dimensions when they are submitted
  if (!form.is_affine || form.dim > LEGATE_MAX_DIM || !find_elements(fields)) {
    return Answer::IMPOSSIBLE;
  }
  if (changes) small->prepare_change();
  return Answer::DONE;
}

void LocalOperand::find_root(const StoreFields& fields, PyObject* view) {
  set_number(nullptr);
  part_ = nullptr;
  root = view;
  if (auto* const lazy = lazy_thunk(view)) {
    if (!lazy->view) {
      layout = lazy->layout;
      dtype = fields.dtype.of(lazy->prototype);
      return;
    }
    if (lazy->key) part_ = lazy;
    while (auto* const outer = lazy_thunk(view)) view = outer->view;
  }
  root = fields.view_root.of(view);
  layout = part_ ? nullptr : fields.view_layout.of(view);
  dtype = fields.dtype.of(root);
}

bool LocalOperand::find_form(const StoreFields& fields) {
  auto* const bytes = part_ ? nullptr : fields.layout_form.of(layout);

  if (!part_ && !is_set(bytes)) return false;
  form = part_ ? Form{part_->words.data()} : Form{bytes};
  repeats = lazy_thunk(root) ? form.volume == 1 : fields.scalar_storage.of(root) == Py_True;
  return true;
}

bool LocalOperand::may_be_used(const StoreFields& fields) const {
  // Python may have asked for the root meanwhile
  if (const auto* const thunk = lazy_thunk(root)) return !thunk->is_made;
  return fields.fusable.of(root) == Py_True && fields.escaped.of(root) == Py_False &&
         fields.held.of(root) == Py_False && !is_waited_for(root) &&
         !is_held_elsewhere(fields, root);
}

bool LocalOperand::find_elements(const StoreFields& fields) {
  if (auto* const thunk = lazy_thunk(root)) {
    small = &thunk->elements;
    return small->is_valid() ||
           is_small(fields, static_cast<std::int64_t>(small->num_bytes()), small->shape().itemsize);
  }

  auto* array = fields.small.of(root);

  if (!is_set(array)) array = make_room(fields, root);
  if (!array) return false;
  small = nb::inst_ptr<SmallArray>(array);
  return (small->is_valid() ||
          (!is_set(fields.real.of(root)) && !is_set(fields.initial.of(root)))) &&
         (repeats ||
          form.end * small->shape().itemsize <= static_cast<std::int64_t>(small->num_bytes()));
}

bool LocalOperand::shows(PyObject* view) {
  const auto& fields = store_fields();

  find_root(fields, view);
  if (lazy_thunk(root) ? lazy_thunk(root)->is_made : fields.fusable.of(root) != Py_True) {
    return false;
  }
  return find_form(fields) && form.is_affine && form.dim <= LEGATE_MAX_DIM;
}

bool LocalOperand::is_in_process() {
  const auto& fields = store_fields();

  return may_be_used(fields) && (lazy_thunk(root) || !is_set(fields.constant.of(root))) &&
         find_elements(fields);
}

bool LocalOperand::is_here(PyObject* view, bool changes, std::int64_t most) {
  return look(store_fields(), view, changes, most) == Answer::DONE && small;
}

bool LocalOperand::is_in_process(PyObject* view, bool changes) {
  return find(store_fields(), view, changes) == Answer::DONE && small;
}

bool LocalOperand::has_few_elements() const {
  if (form.volume <= 1) return true;
  return small && static_cast<std::int64_t>(small->num_bytes()) <=
                      MOST_RESULTS * static_cast<std::int64_t>(small->shape().itemsize);
}

bool LocalOperand::is_same(const LocalOperand& other) const {
  if (root != other.root) return false;
  // a number has no root
  if (!root) return constant == other.constant;
  return constant || other.constant ? layout == other.layout : form == other.form;
}

bool LocalOperand::is_in_order() const {
  return !repeats && are_in_order(form.dim, form.extents, form.strides, 1);
}

Strides LocalOperand::byte_strides() const {
  Strides bytes{};

  for (std::int64_t d = 0; d < form.dim && !repeats; ++d) {
    bytes[d] = form.strides[d] * small->shape().itemsize;
  }
  return bytes;
}

const char* first_element(const LocalOperand& operand) {
  return operand.small->elements() +
         (operand.repeats ? 0 : operand.form.offset * operand.small->shape().itemsize);
}

char* first_own_element(const LocalOperand& operand) {
  operand.small->own();
  return const_cast<char*>(first_element(operand));
}

void note_new_version(const StoreFields& fields, PyObject* root) {
  const auto version = PyLong_AsLongLong(fields.version.of(root));

  fields.version.set(root, PyLong_FromLongLong(version + 1));
}

void note_change(const StoreFields& fields, const LocalOperand& operand) {
  operand.small->set_changed();
  // no window knows a lazy thunk
  if (!lazy_thunk(operand.root)) note_new_version(fields, operand.root);
}

bool LocalOperand::broadcast(const std::int64_t* shape, std::int64_t dim) {
  const auto added = dim - form.dim;
  std::array<std::int64_t, LEGATE_MAX_DIM> strides;

  if (added < 0) return false;
  for (std::int64_t d = 0; d < dim; ++d) {
    const auto extent = d < added ? 1 : form.extents[d - added];

    if (extent != shape[d] && extent != 1) return false;
    strides[d] = extent == shape[d] && d >= added ? form.strides[d - added] : 0;
  }
  show(dim, shape, strides.data());
  return true;
}

void LocalOperand::show(std::int64_t dim, const std::int64_t* extents,
                        const std::int64_t* strides) {
  auto* const own = own_.data();

  form.extents = own;
  form.strides = own + dim;
  std::copy(extents, extents + dim, own);
  std::copy(strides, strides + dim, own + dim);
  form.dim = dim;
  form.volume = std::accumulate(own, own + dim, std::int64_t{1}, std::multiplies<>{});
}

}  // namespace legate_diffuse
