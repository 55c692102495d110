// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/operators.h"
#include "program/row_driver.h"

namespace legate_diffuse {

// Runs a kernel instruction by instruction, a few hundred points at a time, with the bits of its
// machine code. That takes up to twice as long, and no time to compile: so it is for kernels that
// may not come often. One thread at a time may run it.
class Interpreter : public KernelCode {
 public:
  // Of a kernel's text (kernel/text.py), with as many lanes as its machine code has. Null if it
  // cannot be run like this, or not with these bits.
  static std::unique_ptr<const Interpreter> make(const std::string& text, std::int64_t lanes);

  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter() = default;

  // Whether it ran so often that machine code would have paid.
  [[nodiscard]] bool is_worn() const { return work_ > MOST_WORK; }

 private:
  friend class KernelReader;

  // Operations on elements. What they take longer than machine code is the time in which a kernel
  // is loaded, and a twentieth of that in which it is compiled.
  static constexpr std::int64_t MOST_WORK = 1'000'000;
  static constexpr std::int64_t WORK_OF_A_CALL = 500;

  // Points that are computed at a time: a multiple of any number of lanes.
  static constexpr std::int64_t BLOCK = 256;
  static constexpr std::size_t MAX_VALUES = 64;
  static constexpr std::int64_t MAX_LANES = 128;

  enum class Kind { LOAD, SCALAR, INDEX, CONSTANT, OPERATOR, STORE, REDUCE };

  using Value = std::array<char, 16>;

  // An instruction. Values have the numbers of the instructions that give them.
  struct Step {
    Kind kind{};
    std::int64_t size{};                    // of an element
    std::size_t number{};                   // of the argument, the scalar or the index
    std::array<std::size_t, 3> operands{};  // values
    std::size_t num_operands{};
    Operator apply{};       // what computes, stores (else bytes are copied), or combines
    Value value{};          // a constant, or an identity
    std::int64_t parts{1};  // that are combined of an element
    bool is_uniform{};      // the same at all points of a call
    bool is_updated{};      // an element for each point may be combined
    bool is_limited{};      // what is combined starts from the identity
    bool is_direct{};       // results are written to the argument
    bool is_kept{};         // an element is copied before anything is written
    std::size_t place{};    // in scratch memory
  };

  Interpreter() : KernelCode{} {}

  void finish(std::int64_t lanes);

  // Runs a block of points, from `first` on. `at` says where values lie.
  template <bool UPDATES>
  void run_block(char* const* pointers, const char* scalars, const std::int64_t* strides,
                 std::int64_t first, std::int64_t count, char* scratch, const char** at) const;

  template <bool UPDATES>
  void reduce(const Step& step, char* element, const char* values, std::int64_t count,
              char* scratch) const;
  void fold(const Step& step, char* element, char* scratch) const;

  template <bool UPDATES>
  static void run(char* const* pointers, const char* scalars, std::int64_t points,
                  const std::int64_t* strides, bool streams, const KernelCode* code);

  std::vector<Step> steps_;
  std::vector<KernelArgument> described_;
  std::size_t scratch_bytes_{};
  mutable std::int64_t work_{};
};

}  // namespace legate_diffuse

extern "C" {

// The same for other languages: a ``KernelCode`` that has to be forgotten, or null.
const legate_diffuse::KernelCode* legate_diffuse_interpret(const char* text, std::int64_t lanes);
void legate_diffuse_forget(const legate_diffuse::KernelCode* code);
}
