// SPDX-License-Identifier: Apache-2.0

#include "process/repeat.h"

#include <legate.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/fields.h"
#include "process/programs.h"
#include "process/small_array.h"
#include "process/waiting.h"
#include "process/window.h"
#include "program/elements.h"
#include "program/program.h"
#include "threads/team.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

using Key = std::vector<std::int64_t>;

struct HashOfKey {
  std::size_t operator()(const Key& key) const {
    const std::string_view bytes{reinterpret_cast<const char*>(key.data()),
                                 key.size() * sizeof(key[0])};

    return std::hash<std::string_view>{}(bytes);
  }
};

// Windows of one key, the last one at the end: their arrays have other extents, or are seen in
// another way.
using Alike = std::vector<RepeatedWindow>;

// Never destroyed: arrays may outlive the interpreter.
auto& known_windows = *new std::unordered_map<Key, Alike, HashOfKey>;

// Of so many keys windows are remembered; then all are forgotten.
constexpr std::size_t MOST_WINDOWS = 1024;
// And of one key, as in launch/program.py.
constexpr std::size_t MOST_ALIKE = 8;

// As in launch/state.py.
constexpr std::int64_t LIVENESS = -2;

// Where elements of large arrays lie (launch/choice.py).
constexpr long TILES = 2;

struct RootFields {
  PyObject* const root = reinterpret_cast<PyObject*>(array_fields().classes.root);
  const Field places{root, "places"};
  const Field shared_future{root, "shared_future"};
};

const RootFields& root_fields() {
  static const auto* const instance = new RootFields;
  return *instance;
}

std::vector<PyObject*> keys_of(PyObject* dictionary) {
  std::vector<PyObject*> keys;
  Py_ssize_t position = 0;
  PyObject *key, *value;

  keys.reserve(static_cast<std::size_t>(PyDict_GET_SIZE(dictionary)));
  while (PyDict_Next(dictionary, &position, &key, &value)) keys.push_back(key);
  return keys;
}

// Whether the application can still reach a root (`Root.alive`): stand-ins have its owner.
bool is_alive(PyObject* root) {
  return Py_REFCNT(array_fields().root_owner.of(root)) > 1;
}

// What waits, without references of its own.
struct Waited {
  explicit Waited(const WindowParts& parts)
      : operations{parts.operations},
        views{keys_of(parts.views)},
        roots{keys_of(parts.roots)},
        shapes{keys_of(parts.shapes)},
        key_words{parts.key},
        kept{parts.kept} {}

  // As `ClosedWindow.key`; empty if a root has escaped.
  [[nodiscard]] Key key() const {
    const auto size = PyList_GET_SIZE(key_words);
    Key key;

    key.reserve(static_cast<std::size_t>(size) + roots.size() + 2);
    for (Py_ssize_t at = 0; at < size; ++at) {
      key.push_back(PyLong_AsLongLong(PyList_GET_ITEM(key_words, at)));
    }
    key.insert(key.end(), {LIVENESS, 0});
    for (auto* const root : roots) {
      if (store_fields().escaped.of(root) != Py_False) return {};
      key.push_back(is_alive(root) || PySet_Contains(kept, root) == 1 ? 1 : 0);
    }
    return key;
  }

  [[nodiscard]] PyObject* root_of(std::size_t view) const {
    return store_fields().view_root.of(views[view]);
  }

  [[nodiscard]] PyObject* operation(std::size_t position) const {
    return PyList_GET_ITEM(operations, static_cast<Py_ssize_t>(position));
  }

  PyObject* operations;
  std::vector<PyObject*> views, roots, shapes;
  PyObject* key_words;
  PyObject* kept;
};

// Whether a window shows of its arrays what another did.
bool looks_alike(const Waited& waited, const RepeatedWindow& known) {
  if (waited.views.size() != known.layouts.size() || waited.shapes.size() != known.shapes.size()) {
    return false;
  }
  for (std::size_t at = 0; at < waited.views.size(); ++at) {
    auto* const layout = store_fields().view_layout.of(waited.views[at]);

    if (layout != known.layouts[at].ptr()) return false;
  }
  for (std::size_t at = 0; at < waited.shapes.size(); ++at) {
    if (!are_equal(waited.shapes[at], known.shapes[at].ptr())) return false;
  }
  for (std::size_t at = 0; at < known.scalars.size(); ++at) {
    const auto& source = known.sources[at];

    if (source.is_valid() &&
        template_of(waited.operation(known.scalars[at].second)) != source.ptr()) {
      return false;
    }
  }
  for (const auto view : known.temporaries) {
    if (!is_undefined(store_fields(), waited.root_of(view))) return false;
  }
  return true;
}

// Lets a program have the value of a `legate.core.Scalar` from a word on.
void put_scalar(RepeatedWindow& known, std::size_t word, nb::handle scalar) {
  static auto* const handle = PyUnicode_InternFromString("raw_handle");
  auto* const to = reinterpret_cast<char*>(&known.program[word]);
  const auto address = nb::cast<std::uintptr_t>(scalar.attr(nb::handle{handle}));
  const auto& value = *reinterpret_cast<const legate::Scalar*>(address);

  std::memset(to, 0, SCALAR_SIZE);
  std::memcpy(to, value.ptr(), std::min(value.size(), SCALAR_SIZE));
}

// Lets a program have the constants of a window, with the values with which their roots were made,
// and the values of fills.
void put_scalars(const Waited& waited, RepeatedWindow& known) {
  for (const auto& [word, view] : known.constants) {
    auto* const root = waited.root_of(view);
    auto* const bytes = store_fields().constant_bytes.of(root);

    if (bytes && bytes != Py_None) {
      std::memcpy(&known.program[word], PyBytes_AS_STRING(bytes), SCALAR_SIZE);
    } else {
      put_scalar(known, word, store_fields().initial.of(root));
    }
  }
  for (std::size_t at = 0; at < known.scalars.size(); ++at) {
    const auto [word, position] = known.scalars[at];

    if (!known.sources[at].is_valid()) {
      put_scalar(known, word, fill_value_of(waited.operation(position)));
    }
  }
}

// The array of an argument, which may be used here (`SmallArrays._may_be_used_here`); null if it
// may not, or has no elements here that are read. What gets new memory adds its bytes.
SmallArray* find_array(PyObject* root, Privilege privilege, std::size_t& added) {
  const auto& fields = store_fields();

  if (fields.held.of(root) != Py_False || is_held_elsewhere(fields, root) ||
      (PyLong_AsLong(root_fields().places.of(root)) & TILES) != 0 ||
      (fields.scalar_storage.of(root) != Py_True && PyTuple_GET_SIZE(fields.shape.of(root)) == 0)) {
    return nullptr;
  }

  auto* small = fields.small.of(root);

  if (!small || small == Py_None) small = reads(privilege) ? nullptr : new_array(fields, root);
  if (!small) return nullptr;

  auto* const array = nb::inst_ptr<SmallArray>(small);

  if (!array->is_valid()) {
    if (reads(privilege)) return nullptr;
    added += array->num_bytes();
  }
  return array;
}

std::optional<Waited> what_waits() {
  // the classes of arrays are known once cuPyNumeric is imported
  if (known_windows.empty() || !known_array_fields) return {};

  const auto parts = parts_of_window();

  if (!parts) return {};
  return Waited{*parts};
}

// The window that was noted and is like this one; null if none is.
RepeatedWindow* find_known(const Waited& waited) {
  const auto found = known_windows.find(waited.key());

  if (found == known_windows.end()) return nullptr;

  const auto like_this =
      std::find_if(found->second.rbegin(), found->second.rend(),
                   [&](const auto& known) { return looks_alike(waited, known); });

  return like_this == found->second.rend() ? nullptr : &*like_this;
}

// Whether two windows of one key show the same of arrays of the same extents.
bool are_alike(const RepeatedWindow& one, const RepeatedWindow& other) {
  const auto are_same = [](const auto& each, const auto& beside) { return each.is(beside); };

  return std::equal(one.layouts.begin(), one.layouts.end(), other.layouts.begin(),
                    other.layouts.end(), are_same) &&
         std::equal(one.shapes.begin(), one.shapes.end(), other.shapes.begin(), other.shapes.end(),
                    [](const auto& each, const auto& beside) {
                      return are_equal(each.ptr(), beside.ptr());
                    });
}

// What is forgotten may run code that comes here, so it is returned.
[[nodiscard]] Alike remember(Alike& windows, RepeatedWindow window) {
  Alike gone;
  auto before = std::find_if(windows.begin(), windows.end(),
                             [&](const auto& each) { return are_alike(each, window); });

  if (before == windows.end() && windows.size() >= MOST_ALIKE) before = windows.begin();
  if (before != windows.end()) {
    gone.push_back(std::move(*before));
    windows.erase(before);
  }
  windows.push_back(std::move(window));
  return gone;
}

bool run_again(const Waited& waited, RepeatedWindow& known, bool apart) {
  std::vector<SmallArray*> arrays;
  std::vector<RootShape> shapes;
  std::size_t added = 0;
  auto has_large = false;

  for (std::size_t at = 0; at < known.arguments.size(); ++at) {
    auto* const array =
        find_array(waited.root_of(known.arguments[at]), known.privileges[at], added);

    if (!array) return false;
    has_large |= array->is_valid() &&
                 array->num_bytes() > static_cast<std::size_t>(store_fields().most_bytes);
    arrays.push_back(array);
    shapes.push_back(array->shape());
  }
  if (SmallArray::total_bytes() + added > known.most_bytes || (known.takes_long && !has_large)) {
    return false;
  }
  put_scalars(waited, known);
  try {
    const auto& words = known.program;
    const auto program = check_program({words.data(), words.size()}, shapes);

    if (apart) {
      run_apart(words, program, arrays, known.privileges.data(), current_sharing());
    } else {
      run_here(program, arrays, known.privileges.data(), current_sharing());
    }
  } catch (const InvalidProgram&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  for (std::size_t at = 0; at < known.arguments.size(); ++at) {
    auto* const root = waited.root_of(known.arguments[at]);

    root_fields().places.set(root, PyLong_FromLong(1));
    if (writes(known.privileges[at])) root_fields().shared_future.set(root, Py_NewRef(Py_None));
  }
  return true;
}

}  // namespace

void note_window(const nb::tuple& key, const nb::list& operations, RepeatedWindow window) {
  Key words;

  for (const auto& [word, position] : window.scalars) {
    const auto operation = nb::object{operations[position]};
    auto* const source = template_of(operation.ptr());

    if (!source && !fill_value_of(operation.ptr())) return;
    window.sources.push_back(nb::borrow(source));
  }
  words.reserve(key.size());
  for (const auto& word : key) words.push_back(PyLong_AsLongLong(word.ptr()));
  if (known_windows.size() >= MOST_WINDOWS) forget_windows();

  const auto gone = remember(known_windows[std::move(words)], std::move(window));
}

bool knows_window() {
  const auto waited = what_waits();

  return waited && find_known(*waited) != nullptr;
}

nb::object repeat_window(nb::handle state, nb::handle following, bool apart) {
  const auto waited = is_recorded(state.ptr()) ? what_waits() : std::nullopt;
  auto* const known = waited ? find_known(*waited) : nullptr;

  if (!known || !run_again(*waited, *known, apart)) return nb::none();

  auto note = known->note;

  // what nobody keeps goes now, and may run code of the program's
  begin_window(following.ptr());
  return note;
}

void forget_windows() {
  // objects that are dropped may run code that comes here
  std::remove_reference_t<decltype(known_windows)> gone;

  known_windows.swap(gone);
}

}  // namespace legate_diffuse
