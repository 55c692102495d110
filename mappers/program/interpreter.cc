// SPDX-License-Identifier: Apache-2.0

#include "program/interpreter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "program/kernel_reader.h"

namespace legate_diffuse {

namespace {

// As codegen/reduction.py has it.
constexpr std::int64_t MOST_REDUCED_POINTS = 1 << 14;
constexpr std::int64_t ANY_POINTS = std::int64_t{1} << 62;
// Apart from a multiple of a page, at which memory looks alike to the processor.
constexpr std::size_t BETWEEN_PLACES = 64;
constexpr std::size_t SCALAR_STRIDE = 16;

// Grows, and stays as long as the thread.
char* scratch_of_thread(std::size_t bytes) {
  thread_local std::vector<char> memory;

  if (memory.size() < bytes) memory.resize(bytes);
  return memory.data();
}

template <std::size_t SIZE>
void repeat(char* to, const char* element, std::int64_t count) {
  std::array<char, SIZE> value;

  std::memcpy(value.data(), element, SIZE);
  for (std::int64_t n = 0; n < count; ++n) {
    std::memcpy(to + n * static_cast<std::int64_t>(SIZE), value.data(), SIZE);
  }
}

void repeat(char* to, const char* element, std::int64_t size, std::int64_t count) {
  switch (size) {
    case 1:
      return repeat<1>(to, element, count);
    case 2:
      return repeat<2>(to, element, count);
    case 4:
      return repeat<4>(to, element, count);
    case 8:
      return repeat<8>(to, element, count);
    default:
      return repeat<16>(to, element, count);
  }
}

void count_up(char* to, std::int64_t first, std::int64_t step, std::int64_t count) {
  auto* const numbers = reinterpret_cast<std::int64_t*>(to);

  for (std::int64_t n = 0; n < count; ++n) numbers[n] = first + n * step;
}

void apply_to(Operator apply, char* out, const char* one, const char* other, std::int64_t count) {
  const std::array<const char*, 2> operands{one, other};

  apply(out, operands.data(), count);
}

}  // namespace

std::unique_ptr<const Interpreter> Interpreter::make(const std::string& text, std::int64_t lanes) {
  std::unique_ptr<Interpreter> kernel{new Interpreter};
  KernelReader reader{*kernel};

  if (lanes <= 0 || MAX_LANES % lanes != 0 || !reader.read(text)) return nullptr;
  kernel->most_points = reader.has_reductions() ? MOST_REDUCED_POINTS : ANY_POINTS;
  kernel->finish(lanes);
  return kernel;
}

void Interpreter::finish(std::int64_t number_of_lanes) {
  const auto is_effect = [](const Step& step) {
    return step.kind == Kind::STORE || step.kind == Kind::REDUCE;
  };
  const auto updates =
      std::any_of(steps_.begin(), steps_.end(), [](const auto& step) { return step.is_updated; });
  const auto effects = std::count_if(steps_.begin(), steps_.end(), is_effect);

  body = &run<false>;
  update = updates ? &run<true> : nullptr;
  lanes = number_of_lanes;
  num_arguments = static_cast<std::int64_t>(described_.size());
  arguments = described_.data();
  if (effects == 1 && steps_.size() > 1 && !steps_.back().apply) {
    const auto& store = steps_.back();
    auto& last = steps_[steps_.size() - 2];

    if (store.kind == Kind::STORE && last.kind == Kind::OPERATOR && !last.is_uniform &&
        store.operands[0] == steps_.size() - 2) {
      last.is_direct = true;
      last.number = store.number;
      steps_.pop_back();
    }
  }
  for (auto& step : steps_) {
    step.is_kept = effects > 1 && step.kind == Kind::LOAD;
    step.place = scratch_bytes_;
    // of what is reduced, the lanes and a block
    scratch_bytes_ += static_cast<std::size_t>((BLOCK + MAX_LANES) * step.size) + BETWEEN_PLACES;
  }
}

template <bool UPDATES>
void Interpreter::run(char* const* pointers, const char* scalars, std::int64_t points,
                      const std::int64_t* strides, bool /*streams*/, const KernelCode* code) {
  const auto& kernel = *static_cast<const Interpreter*>(code);
  auto* const scratch = scratch_of_thread(kernel.scratch_bytes_);
  std::array<const char*, MAX_VALUES + 1> at;

  kernel.work_ += WORK_OF_A_CALL + points * static_cast<std::int64_t>(kernel.steps_.size());
  for (const auto& step : kernel.steps_) {
    if (step.kind == Kind::REDUCE) {
      repeat(scratch + step.place, step.value.data(), step.size,
             step.is_updated && UPDATES ? BLOCK : kernel.lanes);
    }
  }
  for (std::int64_t first = 0; first < points; first += BLOCK) {
    kernel.run_block<UPDATES>(pointers, scalars, strides, first, std::min(BLOCK, points - first),
                              scratch, at.data());
  }
  for (const auto& step : kernel.steps_) {
    if (step.kind == Kind::REDUCE && !(step.is_updated && UPDATES)) {
      kernel.fold(step, pointers[step.number], scratch);
    }
  }
}

template <bool UPDATES>
void Interpreter::run_block(char* const* pointers, const char* scalars, const std::int64_t* strides,
                            std::int64_t first, std::int64_t count, char* scratch,
                            const char** at) const {
  std::array<const char*, 3> operands;

  for (std::size_t number = 0; number < steps_.size(); ++number) {
    const auto& step = steps_[number];
    auto* const own = scratch + step.place;

    if (step.is_uniform && first > 0) continue;
    for (std::size_t n = 0; n < step.num_operands; ++n) operands[n] = at[step.operands[n]];
    at[number] = own;
    switch (step.kind) {
      case Kind::SCALAR:
        repeat(own, scalars + step.number * SCALAR_STRIDE, step.size, count);
        break;
      case Kind::CONSTANT:
        repeat(own, step.value.data(), step.size, count);
        break;
      case Kind::INDEX:
        // its pointer is the first index
        count_up(own,
                 reinterpret_cast<std::int64_t>(pointers[step.number]) +
                     first * strides[2 * step.number + 1],
                 strides[2 * step.number + 1], count);
        break;
      case Kind::LOAD:
        if (step.is_uniform) {
          repeat(own, pointers[step.number], step.size, count);
        } else if (step.is_kept) {
          std::memcpy(own, pointers[step.number] + first * step.size, count * step.size);
        } else {
          at[number] = pointers[step.number] + first * step.size;
        }
        break;
      case Kind::OPERATOR:
        step.apply(step.is_direct ? pointers[step.number] + first * step.size : own,
                   operands.data(), count);
        break;
      case Kind::STORE:
        if (step.apply) {
          step.apply(pointers[step.number] + first * step.size, operands.data(), count);
        } else {
          std::memcpy(pointers[step.number] + first * step.size, operands[0], count * step.size);
        }
        break;
      case Kind::REDUCE:
        reduce<UPDATES>(step, pointers[step.number] + first * step.size, operands[0], count,
                        scratch);
        break;
    }
  }
}

template <bool UPDATES>
void Interpreter::reduce(const Step& step, char* elements, const char* values, std::int64_t count,
                         char* scratch) const {
  auto* const own = scratch + step.place;

  if (step.is_updated && UPDATES) {
    if (step.is_limited) {
      auto* const limited = own + BLOCK * step.size;

      for (std::int64_t from = 0; from < count; from += MAX_LANES) {
        const auto some = std::min(MAX_LANES, count - from);

        apply_to(step.apply, limited, own, values + from * step.size, some);
        apply_to(step.apply, elements + from * step.size, elements + from * step.size, limited,
                 some);
      }
    } else {
      apply_to(step.apply, elements, elements, values, count * step.parts);
    }
    return;
  }
  // a block is as many whole vectors, but for the last one
  for (std::int64_t from = 0; from < count; from += lanes) {
    apply_to(step.apply, own, own, values + from * step.size,
             std::min(lanes, count - from) * step.parts);
  }
}

void Interpreter::fold(const Step& step, char* element, char* scratch) const {
  auto* const own = scratch + step.place;

  for (auto half = lanes / 2; half > 0; half /= 2) {
    apply_to(step.apply, own, own, own + half * step.size, half * step.parts);
  }
  apply_to(step.apply, element, element, own, step.parts);
}

}  // namespace legate_diffuse

const legate_diffuse::KernelCode* legate_diffuse_interpret(const char* text, std::int64_t lanes) {
  return legate_diffuse::Interpreter::make(text, lanes).release();
}

void legate_diffuse_forget(const legate_diffuse::KernelCode* code) {
  delete static_cast<const legate_diffuse::Interpreter*>(code);
}
