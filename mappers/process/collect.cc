// SPDX-License-Identifier: Apache-2.0

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "process/function.h"
#include "process/guard.h"
#include "process/numbers.h"
#include "process/result.h"
#include "process/runs.h"
#include "process/spare_arrays.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

struct KnownLayout {
  PyObject* layout{};
  std::int64_t dim{};
  std::array<std::int64_t, LEGATE_MAX_DIM> extents{};
};

// One of the layouts of new arrays of shapes that came last: a loop may have new extents each time.
KnownLayout& known_layout(std::uint64_t place) {
  static auto* const layouts = new std::array<KnownLayout, 4096>{};

  return (*layouts)[place % layouts->size()];
}

bool is_real_number(PyObject* number) {
  return is_number(number) || PyBool_Check(number);
}

struct NamedType {
  NumberType type;
  std::string_view name;
};

// The type of an array of real numbers of Python's.
NamedType type_of(PyObject* const* numbers, std::int64_t count) {
  const auto* const end = numbers + count;

  if (std::any_of(numbers, end, [](auto* each) { return PyFloat_CheckExact(each); })) {
    return {NumberType::FLOAT64, "float64"};
  }
  if (std::all_of(numbers, end, [](auto* each) { return PyBool_Check(each); })) {
    return {NumberType::BOOL, "bool"};
  }
  return {NumberType::INT64, "int64"};
}

// False for integers that the type does not have, and objects that are no real numbers.
bool put_real(PyObject* number, NumberType type, char* to) {
  if (PyBool_Check(number)) {
    const auto is_true = number == Py_True;

    if (type != NumberType::BOOL) return convert(nb::int_{is_true ? 1 : 0}.ptr(), type, to);
    *to = static_cast<char>(is_true);
    return true;
  }
  return is_number(number) && convert(number, type, to);
}

}  // namespace

nb::object Function::new_layout(const std::int64_t* extents, std::int64_t dim) const {
  if (dim == 0 && single_) return nb::borrow(single_);

  std::uint64_t place = 0;

  for (std::int64_t d = 0; d < dim; ++d)
    place = place * 31 + static_cast<std::uint64_t>(extents[d]);

  auto& known = known_layout(place);

  if (known.layout && known.dim == dim && are_alike(extents, known.extents.data(), dim)) {
    return nb::borrow(known.layout);
  }

  auto layout = nb::handle{dense_}(tuple_of(extents, dim));

  // they are kept
  if (dim == 0) {
    single_ = nb::object{layout}.release().ptr();
    return layout;
  }

  const auto before = nb::steal(std::exchange(known.layout, nb::object{layout}.release().ptr()));

  known.dim = dim;
  std::copy(extents, extents + dim, known.extents.begin());
  return layout;
}

PyObject* Function::fill(const Signature& signature, PyObject* layout,
                         const ScalarBlock& value) const {
  LocalOperand target;
  NewArray made{signature, layout};

  if (!made.is_here(target)) Py_RETURN_NONE;

  Run run{"fill"};

  if (value.bytes == ScalarBlock{}.bytes) {
    target.small->clear();
  } else {
    target.small->fill(value.bytes.data());
  }
  run.done(1, 1);
  return made.array.release().ptr();
}

PyObject* Function::take(PyObject* dtype, PyObject* layout, PyObject* bytes,
                         const std::string& name) {
  const auto* const signature = find({dtype});
  const Form form{store_fields().layout_form.of(layout)};
  const auto size = PyBytes_GET_SIZE(bytes);

  if (!arrays_are_ready() || !signature || size != form.volume * signature->itemsize) {
    Py_RETURN_NONE;
  }
  return new_result(
      *this, signature, form.dim, form.extents, name.empty() ? nullptr : name.c_str(),
      [] { return true; },
      [&](char* to) {
        return std::memcpy(to, PyBytes_AS_STRING(bytes), static_cast<std::size_t>(size));
      });
}

const Signature* Function::find(std::string_view dtype) const {
  const auto found = std::find_if(signatures_.begin(), signatures_.end(), [&](const auto& each) {
    return text_of(each.dtypes[0]) == dtype;
  });

  return found == signatures_.end() ? nullptr : &*found;
}

PyObject* Function::collect(PyObject* sequence) const {
  if (!arrays_are_ready() || !(PyList_CheckExact(sequence) || PyTuple_CheckExact(sequence))) {
    Py_RETURN_NONE;
  }

  // no list is changed meanwhile
  const auto kept = owned(PySequence_Tuple(sequence));
  const auto count = static_cast<std::int64_t>(PyTuple_GET_SIZE(kept.ptr()));
  auto* const* const parts = &PyTuple_GET_ITEM(kept.ptr(), 0);
  std::vector<nb::object> views;
  PyObject* dtype = nullptr;
  LocalOperand source;

  for (std::int64_t at = 0; at < count; ++at) {
    views.push_back(view_of(parts[at]));
    if (!views.back().is_valid()) {
      if (!is_real_number(parts[at])) Py_RETURN_NONE;
    } else if (source.is_here(views.back().ptr(), false) && source.form.dim == 0 &&
               (!dtype || source.dtype == dtype)) {
      dtype = source.dtype;
    } else {
      Py_RETURN_NONE;
    }
  }

  const auto type = dtype ? NamedType{number_type(dtype), text_of(dtype)} : type_of(parts, count);
  // single elements are constants
  const auto* const signature = count > 1 ? find(type.name) : nullptr;
  // beside arrays of others NumPy says of which type both are
  const auto stays = [&](PyObject* number) {
    return !dtype || (type.type == NumberType::FLOAT64 && is_number(number)) ||
           (type.type == NumberType::INT64 && PyLong_CheckExact(number));
  };

  return new_result(
      *this, signature, 1, &count, dtype ? "array" : nullptr, [] { return true; },
      [&](char* to) {
        for (std::int64_t at = 0; at < count; ++at, to += signature->itemsize) {
          const auto& view = views[static_cast<std::size_t>(at)];

          if (view.is_valid()) {
            if (!source.is_here(view.ptr(), false)) return false;
            std::memcpy(to, first_element(source), static_cast<std::size_t>(signature->itemsize));
          } else if (!stays(parts[at]) || !put_real(parts[at], type.type, to)) {
            return false;
          }
        }
        return true;
      });
}

PyObject* Function::hold(PyObject* number) const {
  if (!arrays_are_ready() || !is_number(number)) Py_RETURN_NONE;

  const auto type = type_of(&number, 1);

  return new_result(
      *this, find(type.name), 0, nullptr, nullptr, [] { return true; },
      [&](char* to) { return put_real(number, type.type, to); });
}

}  // namespace legate_diffuse
