// SPDX-License-Identifier: Apache-2.0

#include "process/numpy_api.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <array>
#include <type_traits>

#include "program/elements.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

static_assert(std::is_same_v<npy_intp, std::int64_t>);

// Throws nanobind::python_error where there is no such NumPy.
void load() {
  static const auto loaded = [] {
    if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
    return true;
  }();

  static_cast<void>(loaded);
}

PyArrayObject* fields_of(PyObject* array) {
  return reinterpret_cast<PyArrayObject*>(array);
}

nb::object new_array(PyObject* dtype, std::int64_t dim, const std::int64_t* extents,
                     const std::int64_t* byte_strides, char* elements) {
  load();
  Py_INCREF(dtype);

  auto made = nb::steal(PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(dtype),
                                             static_cast<int>(dim), extents, byte_strides, elements,
                                             elements ? NPY_ARRAY_WRITEABLE : 0, nullptr));

  if (!made.is_valid()) throw nb::python_error();
  return made;
}

}  // namespace

PyTypeObject* type_of_arrays() {
  load();
  return &PyArray_Type;
}

bool is_array_of_numpy(PyObject* object) {
  load();
  return PyArray_CheckExact(object);
}

ArrayContent content_of(PyObject* array) {
  auto* const fields = fields_of(array);

  return {PyArray_BYTES(fields),      PyArray_NDIM(fields),     PyArray_DIMS(fields),
          PyArray_STRIDES(fields),    PyArray_ITEMSIZE(fields), PyArray_SIZE(fields),
          PyArray_DESCR(fields)->kind};
}

bool ArrayContent::is_in_order() const {
  return are_in_order(dim, extents, byte_strides, itemsize);
}

PyObject* name_of_type(PyObject* names, PyObject* array) {
  // types that are built in are one object each: these come often
  static auto* const known = new std::array<PyObject*, NPY_NTYPES_LEGACY>{};
  auto* const dtype = PyArray_DESCR(fields_of(array));
  const auto number = dtype->type_num;
  const auto is_own =
      number >= 0 && number < NPY_NTYPES_LEGACY && PyArray_ISNOTSWAPPED(fields_of(array));
  auto* const own = is_own ? (*known)[static_cast<std::size_t>(number)] : nullptr;

  if (own) return own;

  auto* const name = PyDict_GetItemWithError(names, reinterpret_cast<PyObject*>(dtype));

  if (!name && PyErr_Occurred()) throw nb::python_error();
  if (name && is_own) (*known)[static_cast<std::size_t>(number)] = Py_NewRef(name);
  return name;
}

nb::object new_array_of_numpy(PyObject* dtype, std::int64_t dim, const std::int64_t* extents) {
  return new_array(dtype, dim, extents, nullptr, nullptr);
}

nb::object array_over(PyObject* dtype, std::int64_t dim, const std::int64_t* extents,
                      const std::int64_t* byte_strides, const char* elements, nb::object owner) {
  auto made = new_array(dtype, dim, extents, byte_strides, const_cast<char*>(elements));

  if (PyArray_SetBaseObject(fields_of(made.ptr()), owner.release().ptr()) != 0) {
    throw nb::python_error();
  }
  return made;
}

nb::object set_memory_handler(PyObject* handler) {
  load();
  return nb::steal(PyDataMem_SetHandler(handler));
}

}  // namespace legate_diffuse
