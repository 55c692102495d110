// SPDX-License-Identifier: Apache-2.0

#include "gpu/nest_launcher.h"

#include <algorithm>
#include <cstring>

#include "gpu/rows.h"

namespace legate_diffuse {

namespace {

// Whether a nest reduces to several elements.
bool has_columns(const ParsedNest& nest) {
  const auto& [head, operands] = nest;

  return !std::all_of(operands.begin(), operands.begin() + head.num_written,
                      [&](auto& operand) { return operand.stands(head.dim); });
}

}  // namespace

std::int64_t fold_bytes(const std::vector<ParsedNest>& nests) {
  std::int64_t most = 0;

  for (const auto& nest : nests) {
    const auto& code = kernel_of(nest.head).on_gpu->code();

    if (code.reduces == 0) continue;
    most = std::max(most, TICKET_BYTES + partial_bytes(code, has_columns(nest)));
  }
  return most;
}

FoldMemory prepare_folds(char* memory, Driver::Stream stream) {
  const auto tickets = reinterpret_cast<Driver::Address>(memory);

  if (memory) {
    check(driver(), driver().fill_words(tickets, 0, TICKET_BYTES / sizeof(unsigned), stream),
          "cuMemsetD32Async");
  }
  return {tickets + TICKET_BYTES, tickets};
}

void NestLauncher::run(const Program& program) {
  auto run = program.runs.begin();

  for (auto first = program.nests.begin(); first != program.nests.end();) {
    const auto is_run =
        run != program.runs.end() && run->first_nest == first - program.nests.begin();
    const std::vector<ParsedNest> nests{first, first + (is_run ? run->num_nests : 1)};

    first += static_cast<std::ptrdiff_t>(nests.size());
    if (is_run) {
      const auto& kernel = *kernel_of(run++->kernel).on_gpu;

      if (auto together = launch_rows(kernel.code(), nests, bases_)) {
        kernel.launch(*together, folds_.partials, folds_.tickets, stream_);
        continue;
      }
    }
    for (const auto& nest : nests) this->run(nest);
  }
}

void NestLauncher::run(const ParsedNest& nest) {
  const auto& [head, operands] = nest;
  const auto& kernel = *kernel_of(head).on_gpu;

  nest_.reset(operands.size());
  for (std::int64_t d = 0; d < head.dim; ++d) nest_.add_dim(head.extents[d], head.first[d]);
  for (std::size_t index = 0; index < operands.size(); ++index) {
    nest_.set_pointer(index, bases_.address(operands[index]));
    bases_.find_strides(operands[index], head.dim, nest_.strides(index));
  }
  scalars_.resize(head.num_scalars);
  std::memcpy(scalars_.data(), head.scalars, scalars_.size() * sizeof(ScalarBlock));
  for (auto& launch : nest_.launches(kernel.code(), scalars_.data())) {
    kernel.launch(launch, folds_.partials, folds_.tickets, stream_);
  }
}

}  // namespace legate_diffuse
