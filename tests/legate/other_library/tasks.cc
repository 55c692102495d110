// SPDX-License-Identifier: Apache-2.0
// A library of tasks as others write them: it knows nothing of legate_diffuse.

#include <legate.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace other {

using Row = legate::Rect<1>;

constexpr auto NAME = "other";

// y = a * x + y, where a has one element.
class Axpy : public legate::LegateTask<Axpy> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{0}};

  static void cpu_variant(legate::TaskContext context) {
    if (context.output(0).type().code() == legate::Type::Code::FLOAT32) {
      run<float>(context);
    } else {
      run<double>(context);
    }
  }

 private:
  template <typename T>
  static void run(legate::TaskContext context) {
    const auto x = context.input(0).data().read_accessor<T, 1>();
    const auto a = context.input(1).data().read_accessor<T, 1>();
    const auto y = context.output(0).data().read_write_accessor<T, 1>();

    for (legate::PointInRectIterator<1> it{context.output(0).shape<1>()}; it.valid(); ++it) {
      const T product = a[0] * x[*it];

      y[*it] = product + y[*it];
    }
  }
};

// Adds |x - y| of all elements.
class Distance : public legate::LegateTask<Distance> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{1}};

  static void cpu_variant(legate::TaskContext context) {
    const auto x = context.input(0).data().read_accessor<std::int64_t, 1>();
    const auto y = context.input(1).data().read_accessor<std::int64_t, 1>();
    const auto sum =
        context.reduction(0).data().reduce_accessor<Legion::SumReduction<std::int64_t>, true, 1>();

    for (legate::PointInRectIterator<1> it{context.input(0).shape<1>()}; it.valid(); ++it) {
      sum.reduce(0, x[*it] < y[*it] ? y[*it] - x[*it] : x[*it] - y[*it]);
    }
  }
};

// y[i] = x[i - 1] + x[i] + x[i + 1], as far as x reaches.
class Smooth : public legate::LegateTask<Smooth> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{2}};

  static void cpu_variant(legate::TaskContext context) {
    const auto given = context.input(0).shape<1>();
    const auto x = context.input(0).data().read_accessor<double, 1>();
    const auto y = context.output(0).data().write_accessor<double, 1>();

    for (legate::PointInRectIterator<1> it{context.output(0).shape<1>()}; it.valid(); ++it) {
      double sum = 0.0;

      for (auto near = (*it)[0] - 1; near <= (*it)[0] + 1; ++near) {
        if (given.contains(legate::Point<1>{near})) sum += x[near];
      }
      y[*it] = sum;
    }
  }
};

// Where each row begins and ends, from its first element and the one after its last.
class Rows : public legate::LegateTask<Rows> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{3}};

  static void cpu_variant(legate::TaskContext context) {
    const auto low = context.input(0).data().read_accessor<std::int64_t, 1>();
    const auto high = context.input(1).data().read_accessor<std::int64_t, 1>();
    const auto rows = context.output(0).data().write_accessor<Row, 1>();

    for (legate::PointInRectIterator<1> it{context.output(0).shape<1>()}; it.valid(); ++it) {
      rows[*it] = Row{low[*it], high[*it] - 1};
    }
  }
};

// The product of a sparse matrix with a vector.
template <typename Index, typename Value>
void multiply(const legate::TaskContext& context) {
  const auto rows = context.input(0).data().read_accessor<Row, 1>();
  const auto columns = context.input(1).data().read_accessor<Index, 1>();
  const auto values = context.input(2).data().read_accessor<Value, 1>();
  const auto x = context.input(3).data().read_accessor<Value, 1>();
  const auto y = context.output(0).data().write_accessor<Value, 1>();

  for (legate::PointInRectIterator<1> it{context.output(0).shape<1>()}; it.valid(); ++it) {
    Value sum{};

    for (auto k = rows[*it].lo[0]; k <= rows[*it].hi[0]; ++k) sum += values[k] * x[columns[k]];
    y[*it] = sum;
  }
}

// Its diagonal: the last element of each row in the column of the same number.
template <typename Index, typename Value>
void find_diagonal(const legate::TaskContext& context) {
  const auto rows = context.input(0).data().read_accessor<Row, 1>();
  const auto columns = context.input(1).data().read_accessor<Index, 1>();
  const auto values = context.input(2).data().read_accessor<Value, 1>();
  const auto y = context.output(0).data().write_accessor<Value, 1>();

  for (legate::PointInRectIterator<1> it{context.output(0).shape<1>()}; it.valid(); ++it) {
    Value found{};

    for (auto k = rows[*it].lo[0]; k <= rows[*it].hi[0]; ++k) {
      if (columns[k] == (*it)[0]) found = values[k];
    }
    y[*it] = found;
  }
}

// Calls what has the types of a matrix.
template <typename Index, typename Function>
void with_values(const legate::TaskContext& context, Function&& call) {
  switch (context.input(2).type().code()) {
    case legate::Type::Code::FLOAT32:
      return call(Index{}, float{});
    case legate::Type::Code::FLOAT64:
      return call(Index{}, double{});
    case legate::Type::Code::COMPLEX64:
      return call(Index{}, legate::Complex<float>{});
    default:
      return call(Index{}, legate::Complex<double>{});
  }
}

template <typename Function>
void with_types(const legate::TaskContext& context, Function&& call) {
  if (context.input(1).type().code() == legate::Type::Code::INT32) {
    with_values<std::int32_t>(context, call);
  } else {
    with_values<std::int64_t>(context, call);
  }
}

class Product : public legate::LegateTask<Product> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{4}};

  static void cpu_variant(legate::TaskContext context) {
    with_types(context, [&](auto index, auto value) {
      multiply<decltype(index), decltype(value)>(context);
    });
  }
};

// The positive elements: nobody knows how many before.
class Positive : public legate::LegateTask<Positive> {
 public:
  static inline const auto TASK_CONFIG =
      legate::TaskConfig{legate::LocalTaskID{5}}.with_variant_options(
          legate::VariantOptions{}.with_has_allocations(true));

  static void cpu_variant(legate::TaskContext context) {
    const auto x = context.input(0).data().read_accessor<double, 1>();
    const auto shape = context.input(0).shape<1>();
    std::int64_t count = 0;

    for (legate::PointInRectIterator<1> it{shape}; it.valid(); ++it) count += x[*it] > 0.0;
    auto found =
        context.output(0).data().create_output_buffer<double, 1>(legate::Point<1>{count}, true);
    std::int64_t place = 0;

    for (legate::PointInRectIterator<1> it{shape}; it.valid(); ++it) {
      if (x[*it] > 0.0) found[place++] = x[*it];
    }
  }
};

// Refuses a negative first element.
class Check : public legate::LegateTask<Check> {
 public:
  static inline const auto TASK_CONFIG =
      legate::TaskConfig{legate::LocalTaskID{6}}.with_variant_options(
          legate::VariantOptions{}.with_may_throw_exception(true));

  static void cpu_variant(legate::TaskContext context) {
    const auto x = context.input(0).data().read_accessor<double, 1>();
    const auto y = context.output(0).data().write_accessor<double, 1>();
    const auto shape = context.output(0).shape<1>();

    for (legate::PointInRectIterator<1> it{shape}; it.valid(); ++it) {
      if (x[*it] < 0.0) throw legate::TaskException{"a negative element"};
      y[*it] = x[*it];
    }
  }
};

// Negates one element, and leaves the others.
class Flip : public legate::LegateTask<Flip> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{7}};

  static void cpu_variant(legate::TaskContext context) {
    const auto y = context.output(0).data().read_write_accessor<double, 1>();
    const legate::Point<1> place{context.scalar(0).value<std::int64_t>()};

    if (context.output(0).shape<1>().contains(place)) y[place] = -y[place];
  }
};

// y = x + s, or x - s, where s is a scalar argument.
class Shift : public legate::LegateTask<Shift> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{8}};

  static void cpu_variant(legate::TaskContext context) {
    const auto x = context.input(0).data().read_accessor<double, 1>();
    const auto y = context.output(0).data().write_accessor<double, 1>();
    const auto distance = context.scalar(0).value<double>();
    const auto back = context.scalar(1).value<bool>();

    for (legate::PointInRectIterator<1> it{context.output(0).shape<1>()}; it.valid(); ++it) {
      y[*it] = back ? x[*it] - distance : x[*it] + distance;
    }
  }
};

// result += sum of hypot(x, y)
class Length : public legate::LegateTask<Length> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{9}};

  static void cpu_variant(legate::TaskContext context) {
    const auto x = context.input(0).data().read_accessor<double, 1>();
    const auto y = context.input(1).data().read_accessor<double, 1>();
    const auto sum =
        context.reduction(0).data().reduce_accessor<Legion::SumReduction<double>, true, 1>();

    for (legate::PointInRectIterator<1> it{context.input(0).shape<1>()}; it.valid(); ++it) {
      sum.reduce(0, std::hypot(x[*it], y[*it]));
    }
  }
};

class Diagonal : public legate::LegateTask<Diagonal> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{10}};

  static void cpu_variant(legate::TaskContext context) {
    with_types(context, [&](auto index, auto value) {
      find_diagonal<decltype(index), decltype(value)>(context);
    });
  }
};

}  // namespace other

extern "C" void other_create_library() {
  bool created = false;
  auto library = legate::Runtime::get_runtime()->find_or_create_library(
      other::NAME, legate::ResourceConfig{}, nullptr, {}, &created);

  if (!created) return;
  other::Axpy::register_variants(library);
  other::Distance::register_variants(library);
  other::Smooth::register_variants(library);
  other::Rows::register_variants(library);
  other::Product::register_variants(library);
  other::Positive::register_variants(library);
  other::Check::register_variants(library);
  other::Flip::register_variants(library);
  other::Shift::register_variants(library);
  other::Length::register_variants(library);
  other::Diagonal::register_variants(library);
}
