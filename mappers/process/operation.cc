// SPDX-License-Identifier: Apache-2.0

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "process/at_once.h"
#include "process/disjoint.h"
#include "process/runs.h"
#include "program/elements.h"

namespace legate_diffuse {

namespace {

// Variants of an operation at most; programs have one or two of most operations.
constexpr std::size_t MAX_VARIANTS = 256;
// The scalars of a kernel at most.
constexpr std::size_t MAX_SCALARS = 32;

// Only this thread runs nests at once, one after the other.
Nest& only_nest() {
  static auto* const nest = new Nest;
  return *nest;
}

bool fits(const NestAtOnce& nest, const LocalOperands& operands, std::size_t num_scalars) {
  const auto dim = operands[nest.shape].form.dim;

  return std::all_of(nest.scalars.begin(), nest.scalars.end(),
                     [&](auto source) {
                       return source < 0 ? -source <= static_cast<std::int64_t>(num_scalars)
                                         : operands[source].constant != nullptr;
                     }) &&
         std::all_of(nest.arguments.begin(), nest.arguments.end(), [&](auto number) {
           return operands[number].repeats || operands[number].form.dim == dim;
         });
}

void run_nest(const NestAtOnce& planned, const LocalOperands& operands, const char* scalars,
              std::size_t num_scalars) {
  std::array<ScalarBlock, MAX_SCALARS> block;
  const auto& form = operands[planned.shape].form;
  auto& nest = only_nest();

  for (std::size_t index = 0; index < planned.scalars.size(); ++index) {
    const auto source = planned.scalars[index];
    const auto* const value = source < 0
                                  ? scalars + (static_cast<std::int64_t>(num_scalars) + source) *
                                                  static_cast<std::int64_t>(SCALAR_SIZE)
                                  : operands[source].constant;

    std::memcpy(block[index].bytes.data(), value, SCALAR_SIZE);
  }
  nest.reset(planned.arguments.size());
  for (std::int64_t d = 0; d < form.dim; ++d) nest.add_dim(form.extents[d]);
  for (std::size_t index = 0; index < planned.arguments.size(); ++index) {
    const auto& operand = operands[planned.arguments[index]];

    nest.set_argument(index, const_cast<char*>(first_element(operand)),
                      planned.whole[index] ? Strides{} : operand.byte_strides());
  }
  nest.run(*planned.kernel, block[0].bytes.data(), nullptr);
}

}  // namespace

Operation::Operation(std::string name, std::vector<bool> changes, std::int64_t number,
                     std::int64_t fills)
    : name_{std::move(name)}, changes_{std::move(changes)}, number_{number}, fills_{fills} {
  if (changes_.size() > MAX_OPERANDS) throw std::invalid_argument{"too many operands"};
}

Answer Operation::run(const StoreFields& fields, const LocalOperands& operands, const char* scalars,
                      std::size_t num_scalars) {
  if (is_torn(operands)) return Answer::IMPOSSIBLE;

  const auto found = find(operands);

  if (found == variants_.end()) return Answer::UNKNOWN;
  if (found->nests.empty()) return Answer::IMPOSSIBLE;
  for (const auto& nest : found->nests) {
    if (!nest.kernel->is_ready()) {
      variants_.erase(found);
      return Answer::UNKNOWN;
    }
    if (!fits(nest, operands, num_scalars)) return Answer::IMPOSSIBLE;
  }

  Run run{name()};

  for (std::size_t number = 0; number < num_operands(); ++number) {
    if (changes_[number] && operands[number].small) operands[number].small->own();
  }
  for (const auto& nest : found->nests) run_nest(nest, operands, scalars, num_scalars);
  for (std::size_t number = 0; number < num_operands(); ++number) {
    if (changes_[number]) note_change(fields, operands[number]);
  }
  count(run);
  return Answer::DONE;
}

Operation::Variants::const_iterator Operation::find(const LocalOperands& operands) const {
  const auto pattern = pattern_of(operands);
  const auto count = static_cast<std::int64_t>(num_operands());

  return std::find_if(variants_.begin(), variants_.end(), [&](const auto& each) {
    return are_alike(pattern.data(), each.pattern.data(), count);
  });
}

const NestAtOnce* Operation::only_nest(const LocalOperands& operands) const {
  const auto found = find(operands);

  return found == variants_.end() || found->nests.size() != 1 ? nullptr : found->nests.data();
}

void Operation::count(Run& run) const {
  run.done(number_, fills_);
}

void Operation::add(const LocalOperands& operands, std::vector<NestAtOnce> nests) {
  if (variants_.size() >= MAX_VARIANTS) variants_.clear();
  for (const auto& nest : nests) {
    if (nest.scalars.size() > MAX_SCALARS) throw std::invalid_argument{"too many scalars"};
  }
  variants_.push_back({pattern_of(operands), std::move(nests)});
}

namespace {

// The dimension along which elements lie one behind the other, or are nearest; 0 if there is none.
std::int64_t innermost(const Form& form) {
  std::int64_t found = 0;

  for (std::int64_t d = 1; d < form.dim; ++d) {
    const auto is_nearer = form.strides[found] == 0 || form.extents[found] == 1 ||
                           std::abs(form.strides[d]) < std::abs(form.strides[found]);

    if (form.strides[d] != 0 && form.extents[d] > 1 && is_nearer) found = d;
  }
  return found;
}

}  // namespace

// A word for each operand: which other one is the same, which has its shape, how many points there
// are, which dimension is innermost in memory, as the order of sums follows from it, and along
// which it repeats. What a number is does not matter.
Operation::Pattern Operation::pattern_of(const LocalOperands& operands) const {
  constexpr std::int64_t CONSTANT = -1;
  constexpr std::int64_t REPEATS = CONSTANT - static_cast<std::int64_t>(MAX_OPERANDS);
  Pattern pattern;

  for (std::size_t number = 0; number < num_operands(); ++number) {
    const auto& one = operands[number];
    std::int64_t same = 0;
    std::int64_t alike = 0;

    while (!operands[same].is_same(one)) ++same;
    if (one.constant) {
      pattern[number] = CONSTANT - same;
      continue;
    }
    if (one.repeats) {
      pattern[number] = REPEATS - (same << 2 | std::min<std::int64_t>(one.form.volume, 2));
      continue;
    }
    while (operands[alike].constant || operands[alike].repeats ||
           !operands[alike].form.has_shape_of(one.form)) {
      ++alike;
    }
    pattern[number] = same << 40 | alike << 32 | one.form.dim << 24 | one.form.points() << 16 |
                      innermost(one.form) << 8;
    for (std::int64_t d = 0; d < one.form.dim; ++d) {
      if (one.form.strides[d] == 0 && one.form.extents[d] > 1) pattern[number] |= 1 << d;
    }
  }
  return pattern;
}

// Whether an operand changes that shares some of its elements, and not all, with another one.
bool Operation::is_torn(const LocalOperands& operands) const {
  for (std::size_t one = 0; one < num_operands(); ++one) {
    if (!changes_[one]) continue;
    for (std::size_t other = 0; other < num_operands(); ++other) {
      if (operands[other].root == operands[one].root && !operands[other].is_same(operands[one]) &&
          !are_disjoint(operands[one], operands[other])) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace legate_diffuse
