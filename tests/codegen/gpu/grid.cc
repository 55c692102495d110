// SPDX-License-Identifier: Apache-2.0
//
// Runs the grid of a GPU kernel on one thread of the CPU: a fibre for each GPU thread, the blocks
// one after the other. Threads and blocks run in a shuffled order. Shared memory is full of garbage
// when a block starts. What would hang or be undefined on a GPU is an error: barriers that some
// threads never reach, or that they reach at different places, and shuffles without the whole warp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

using Kernel = void (*)(const void*);

struct Function {
  const char* name;
  Kernel kernel;
  // Whether threads wait for one another.
  std::int64_t waits;
};

struct SharedMemory {
  char* bytes;
  std::int64_t size;
};

// What an image passes: see emulated.py.
struct Image {
  const Function* functions;
  std::int64_t function_count;
  const SharedMemory* shared;
  std::int64_t shared_count;
};

constexpr unsigned WARP = 32;
constexpr std::size_t STACK_BYTES = 64 * 1024;
constexpr int ROUNDS_AHEAD = 64;
constexpr int GARBAGE = 0xA5;

// Shuffling takes most of the time: xorshift64* (S. Vigna, "An experimental exploration of
// Marsaglia's xorshift generators, scrambled", 2016), and no division.
class Random {
 public:
  explicit Random(unsigned seed) : state_{(seed + std::uint64_t{1}) * 0x9E3779B97F4A7C15U} {}

  std::uint32_t operator()() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>(state_ * 0x2545F4914F6CDD1DU >> 32);
  }

  void shuffle(std::vector<unsigned>& order) {
    for (std::size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[(*this)() * std::uint64_t{left} >> 32]);
    }
  }

 private:
  std::uint64_t state_;
};

enum class State { READY, AT_BARRIER, AT_SHUFFLE, DONE };

// Saves the registers that a function keeps (System V ABI for x86-64) on the stack, and goes on
// with another stack. The C library's way asks the system about signals each time.
asm(R"(
  .text
  .type switch_stack, @function
switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size switch_stack, . - switch_stack
)");
extern "C" void switch_stack(void** left, void* entered);
constexpr std::size_t SAVED_REGISTERS = 6;

struct Fibre {
  void* top;
  State state;
  // Where it waits.
  const void* place;
  std::uint32_t exchanged;
  std::unique_ptr<char[]> stack;
};

struct Size {
  unsigned x, y, z;
};

struct Grid {
  Kernel kernel;
  const void* parameter;
  Size blocks, threads, block;
  unsigned current;
  std::vector<Fibre> fibres;
  void* scheduler;
  std::string error;
};

Grid grid;
std::mutex one_at_a_time;

void wait(State state, const void* place) {
  Fibre& fibre = grid.fibres[grid.current];
  fibre.state = state;
  fibre.place = place;
  switch_stack(&fibre.top, grid.scheduler);
}

void run_thread() {
  grid.kernel(grid.parameter);
  wait(State::DONE, nullptr);
}

void start(Fibre& fibre) {
  if (!fibre.stack) {
    fibre.stack = std::make_unique<char[]>(STACK_BYTES);
  }
  // as if it had called switch_stack: registers, and where to return to
  auto** top = reinterpret_cast<void**>(fibre.stack.get() + STACK_BYTES) - 2;
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(run_thread);
  fibre.top = top - SAVED_REGISTERS;
  fibre.state = State::READY;
}

// Whether all of some fibres wait at one place.
bool are_together(const Fibre* first, std::size_t count, State state) {
  return std::all_of(first, first + count, [&](const Fibre& each) {
    return each.state == state && each.place == first->place;
  });
}

void run_fibres(std::vector<unsigned>& order, bool shuffles, Random& random) {
  auto& fibres = grid.fibres;
  fibres.resize(order.size());
  for (auto& fibre : fibres) {
    start(fibre);
  }
  std::uint32_t awake = ~std::uint32_t{0};
  bool ran = true;
  int rounds = 0;
  while (true) {
    if (shuffles) {
      random.shuffle(order);
    }
    // some warps run far ahead of the others, until they must wait for these
    if (shuffles && (!ran || ++rounds % ROUNDS_AHEAD == 0)) {
      awake = random();
    }
    ran = false;
    bool moves = false;
    for (const auto thread : order) {
      if (fibres[thread].state == State::READY) {
        moves = true;
        if ((awake >> (thread / WARP % 32) & 1) == 0) {
          continue;
        }
        grid.current = thread;
        ran = true;
        switch_stack(&grid.scheduler, fibres[thread].top);
      }
    }
    for (std::size_t warp = 0; warp + WARP <= fibres.size(); warp += WARP) {
      if (are_together(&fibres[warp], WARP, State::AT_SHUFFLE)) {
        moves = true;
        for (std::size_t lane = 0; lane < WARP; ++lane) {
          fibres[warp + lane].state = State::READY;
        }
      }
    }
    if (moves) {
      continue;
    }
    if (are_together(fibres.data(), fibres.size(), State::DONE)) {
      return;
    }
    if (!are_together(fibres.data(), fibres.size(), State::AT_BARRIER)) {
      grid.error = "threads of a block wait at different places, so that they wait forever";
      return;
    }
    for (auto& fibre : fibres) {
      fibre.state = State::READY;
    }
  }
}

}  // namespace

extern "C" {

std::uint32_t emulated_tid_x() {
  return grid.current % grid.threads.x;
}
std::uint32_t emulated_tid_y() {
  return grid.current / grid.threads.x;
}
std::uint32_t emulated_ntid_x() {
  return grid.threads.x;
}
std::uint32_t emulated_ntid_y() {
  return grid.threads.y;
}
std::uint32_t emulated_ctaid_x() {
  return grid.block.x;
}
std::uint32_t emulated_ctaid_y() {
  return grid.block.y;
}
std::uint32_t emulated_ctaid_z() {
  return grid.block.z;
}
std::uint32_t emulated_nctaid_x() {
  return grid.blocks.x;
}
std::uint32_t emulated_nctaid_y() {
  return grid.blocks.y;
}
std::uint32_t emulated_nctaid_z() {
  return grid.blocks.z;
}
void emulated_fence() {}
void emulated_barrier(std::uint32_t) {
  wait(State::AT_BARRIER, __builtin_return_address(0));
}

std::uint32_t emulated_shuffle_down(std::uint32_t mask, std::uint32_t value, std::uint32_t distance,
                                    std::uint32_t) {
  if (mask != ~std::uint32_t{0}) {
    grid.error = "a shuffle without the whole warp";
  }
  const void* place = __builtin_return_address(0);
  const unsigned thread = grid.current, lane = thread % WARP;
  grid.fibres[thread].exchanged = value;
  wait(State::AT_SHUFFLE, place);
  const bool inside = lane + distance < WARP;
  const auto found = inside ? grid.fibres[thread + distance].exchanged : value;
  // nobody may exchange the next value before all have read this one
  wait(State::AT_SHUFFLE, place);
  return found;
}

// Runs a grid; null, or what went wrong. With a seed of 0 nothing is shuffled.
const char* emulated_launch(const Image* image, const char* function, const void* parameter,
                            unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned seed) {
  const std::lock_guard<std::mutex> lock{one_at_a_time};
  const auto* end = image->functions + image->function_count;
  const auto* found = std::find_if(image->functions, end, [&](const Function& each) {
    return std::strcmp(each.name, function) == 0;
  });
  grid.error.clear();
  if (found == end) {
    grid.error = std::string{"no function "} + function;
    return grid.error.c_str();
  }
  grid.kernel = found->kernel;
  grid.parameter = parameter;
  grid.blocks = {gx, gy, gz};
  grid.threads = {bx, by, bz};
  Random random{seed};
  std::vector<unsigned> blocks(std::size_t{gx} * gy * gz), order(std::size_t{bx} * by * bz);
  std::iota(blocks.begin(), blocks.end(), 0U);
  std::iota(order.begin(), order.end(), 0U);
  if (seed != 0) {
    random.shuffle(blocks);
    random.shuffle(order);
  }
  for (const auto block : blocks) {
    grid.block = {block % gx, block / gx % gy, block / gx / gy};
    for (std::int64_t number = 0; number < image->shared_count; ++number) {
      const auto& shared = image->shared[number];
      std::memset(shared.bytes, GARBAGE, static_cast<std::size_t>(shared.size));
    }
    if (found->waits != 0) {
      run_fibres(order, seed != 0, random);
    } else {
      for (const auto thread : order) {
        grid.current = thread;
        grid.kernel(parameter);
      }
    }
    if (!grid.error.empty()) {
      return grid.error.c_str();
    }
  }
  return nullptr;
}
}
