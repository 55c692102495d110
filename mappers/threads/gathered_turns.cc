// SPDX-License-Identifier: Apache-2.0

#include "threads/gathered_turns.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "program/cache.h"
#include "threads/gathered_columns.h"

namespace legate_diffuse {

namespace {

// One part in so many of the cache is for the vectors of a block. Larger blocks leave no room for
// what is gathered, and smaller ones begin too often to ask ahead for what they read.
constexpr std::int64_t SHARE = 2;
constexpr std::int64_t ELEMENT_BYTES = 8;

// Where an argument begins that is gathered from.
constexpr std::array<std::int64_t, 1> NO_LOW{0};

bool moves(const ParsedNest& nest, std::size_t number) {
  return nest.head.distances[number] != STANDS && nest.operands[number].dims[nest.head.rows] == 0;
}

bool writes(const ParsedNest& nest, std::size_t number) {
  return static_cast<std::int64_t>(number) < nest.head.num_written;
}

bool has_rows_only(const ParsedNest& nest) {
  return nest.head.dim == 1 && nest.head.rows == 0;
}

std::vector<ParsedNest> parse(Words words, std::int64_t count) {
  std::vector<ParsedNest> nests;

  for (std::int64_t number = 0; number < count; ++number) nests.emplace_back(words);
  return nests;
}

bool uses(const ParsedNest& nest, std::int64_t base) {
  return std::any_of(nest.operands.begin(), nest.operands.end(),
                     [&](const Operand& operand) { return operand.base == base; });
}

bool changes(const ParsedNest& nest, std::int64_t base) {
  const auto* const begin = nest.operands.data();

  return std::any_of(begin, begin + nest.head.num_written,
                     [&](const Operand& operand) { return operand.base == base; });
}

// Whether the order of two nests follows from the rows that they touch.
bool may_take_turns(const ParsedNest& leader, const ParsedNest& follower) {
  for (std::size_t one = 0; one < leader.operands.size(); ++one) {
    for (std::size_t other = 0; other < follower.operands.size(); ++other) {
      if (leader.operands[one].base == follower.operands[other].base &&
          (writes(leader, one) || writes(follower, other)) &&
          !(moves(leader, one) && moves(follower, other))) {
        return false;
      }
    }
  }
  return true;
}

// Whether a nest may run at any time of a band: it reads what none of the others changes.
bool is_free(const std::vector<ParsedNest>& nests, std::int64_t maker, std::int64_t first,
             std::int64_t end) {
  const auto& [head, operands] = nests[maker];

  for (auto number = first; number < end; ++number) {
    if (number == maker) continue;
    for (std::size_t read = head.num_written; read < operands.size(); ++read) {
      if (changes(nests[number], operands[read].base)) return false;
    }
  }
  return true;
}

// How many rows nests can take at a time.
std::int64_t rows_in_cache(const ParsedNest* first, const ParsedNest* end) {
  std::set<std::int64_t> vectors;

  for (const auto* nest = first; nest != end; ++nest) {
    for (std::size_t number = 0; number < nest->operands.size(); ++number) {
      if (moves(*nest, number)) vectors.insert(nest->operands[number].base);
    }
  }
  // rows take twice as many bytes as elements of vectors
  const auto row_bytes = static_cast<std::int64_t>(vectors.size() + 1) * ELEMENT_BYTES;
  return std::max(cache_bytes() / SHARE / row_bytes, std::int64_t{1});
}

}  // namespace

std::optional<GatheredTurns> GatheredTurns::join(const Program& program,
                                                 const std::vector<GatheredBuffer>& buffers,
                                                 Schedule& schedule) {
  if (buffers.empty() || schedule.bands.size() < 2) return {};

  const auto nests = parse(program.nests, program.num_nests);
  std::int64_t first = 0;
  for (auto band = schedule.bands.begin(); band + 1 != schedule.bands.end(); ++band) {
    const auto& next = *(band + 1);
    const auto middle = first + band->num_nests;
    const auto end = middle + next.num_nests;
    GatheredTurns turns;

    turns.first_nest_ = first;
    turns.num_leaders_ = band->num_nests;
    turns.num_nests_ = end - first;
    for (const auto& buffer : buffers) {
      if (buffer.maker < first || buffer.maker >= middle) continue;

      const auto gathers = [&](const ParsedNest& nest) { return uses(nest, ~buffer.buffer); };
      if (std::none_of(nests.begin() + middle, nests.begin() + end, gathers)) continue;

      auto& found = turns.buffers_.emplace_back(buffer);
      turns.is_needed_later_.push_back(std::any_of(nests.begin() + end, nests.end(), gathers));
      if (std::any_of(nests.begin() + middle, nests.end(),
                      [&](const ParsedNest& nest) { return changes(nest, buffer.own); })) {
        found.own = NO_ARGUMENT;
      }
    }
    auto fits = !turns.buffers_.empty() &&
                std::all_of(nests.begin() + first, nests.begin() + end, has_rows_only);
    for (auto leader = first; leader < middle && fits; ++leader) {
      if (turns.is_maker(leader)) {
        fits = is_free(nests, leader, first, end);
        continue;
      }
      fits = std::all_of(nests.begin() + middle, nests.begin() + end, [&](const ParsedNest& nest) {
        return may_take_turns(nests[leader], nest);
      });
    }
    if (fits) {
      const auto has_more = [&](const ParsedNest& nest) {
        return nest.head.extents[0] > turns.block_;
      };

      turns.block_ = rows_in_cache(nests.data() + first, nests.data() + end);
      for (const auto block : {band->block, next.block}) {
        if (block > 0) turns.block_ = std::min(turns.block_, block);
      }
      if (std::none_of(nests.begin() + middle, nests.begin() + end, has_more)) return {};
      *band = {turns.num_nests_, turns.block_};
      schedule.bands.erase(band + 1);
      return turns;
    }
    first = middle;
  }
  return {};
}

namespace {

// An operand of a nest that gathers from a scratch buffer, and its place there.
struct Gather {
  std::size_t buffer;
  std::size_t operand;
  const std::int64_t* low;
};

// A nest of the band. Its row i runs at time shift + i.
struct Member {
  ParsedNest nest;
  const Kernel& kernel;
  std::int64_t shift;
  std::int64_t num_rows;
  std::int64_t unread;
  std::vector<Gather> gathers;
};

// A scratch buffer while the band runs.
struct Filled {
  const GatheredBuffer& buffer;
  const Member& maker;
  bool looks;           // for the columns
  Interval made{0, 0};  // so far
};

class Turns {
 public:
  Turns(std::vector<Member> leaders, std::vector<Member> followers, std::vector<Filled> filled,
        const std::vector<Base>& bases, std::size_t num_arguments, std::int64_t block)
      : leaders_{std::move(leaders)},
        followers_{std::move(followers)},
        filled_{std::move(filled)},
        bases_{bases},
        runner_{bases_, num_arguments},
        block_{block} {
    for (const auto& leader : leaders_) {
      frontier_ = std::min(frontier_, leader.shift);
      finish_ = std::max(finish_, leader.shift + leader.num_rows);
    }
  }

  void run() {
    auto start = INT64_MAX;
    auto end = INT64_MIN;

    for (const auto& follower : followers_) {
      start = std::min(start, follower.shift);
      end = std::max(end, follower.shift + follower.num_rows);
    }
    for (auto time = start; time < end; time += block_) {
      for (auto& follower : followers_) prepare(follower, rows_at(follower, time, time + block_));
      for (const auto& follower : followers_) run(follower, rows_at(follower, time, time + block_));
    }
    lead(finish_);
  }

  void complete(std::size_t buffer) { make(filled_[buffer], filled_[buffer].buffer.made); }

 private:
  static Rows rows_at(const Member& member, std::int64_t begin, std::int64_t end) {
    const auto row = std::clamp(begin - member.shift, std::int64_t{0}, member.num_rows);

    return {0, row, std::clamp(end - member.shift, std::int64_t{0}, member.num_rows) - row};
  }

  void run(const Member& member, const Rows& rows) {
    if (rows.count > 0) runner_.run(member.nest, member.kernel, rows, member.unread);
  }

  // Runs the leaders up to a time or farther, in the same blocks whenever that is.
  void lead(std::int64_t time) {
    while (frontier_ < std::min(time, finish_)) {
      const auto next = std::min(frontier_ + block_, finish_);

      for (const auto& leader : leaders_) run(leader, rows_at(leader, frontier_, next));
      frontier_ = next;
    }
  }

  // Runs all rows of the leaders that touch rows of a root before `end`, if one of the two that
  // touch it changes it.
  void lead_to(std::int64_t base, std::int64_t end, bool is_changed) {
    for (const auto& [nest, kernel, shift, num_rows, unread, gathers] : leaders_) {
      for (std::size_t number = 0; number < nest.operands.size(); ++number) {
        const auto& operand = nest.operands[number];

        if (operand.base == base && (is_changed || writes(nest, number))) {
          lead(shift + end - operand.low[0]);
        }
      }
    }
  }

  // Lets the leaders come as far as some rows of a follower need, and the buffers have what these
  // gather.
  void prepare(Member& follower, const Rows& rows) {
    auto& nest = follower.nest;

    if (rows.count <= 0) return;
    for (const auto& each : follower.gathers) gather(nest, each, rows);
    for (std::size_t number = 0; number < nest.operands.size(); ++number) {
      if (!moves(nest, number)) continue;

      const auto& operand = nest.operands[number];
      lead_to(operand.base, operand.low[0] + rows.first + rows.count, writes(nest, number));
    }
  }

  void gather(ParsedNest& nest, const Gather& gather, const Rows& rows) {
    auto& filled = filled_[gather.buffer];
    auto& operand = nest.operands[gather.operand];
    const auto& buffer = filled.buffer;
    const auto wanted = filled.looks ? named_by(nest, buffer, rows) : buffer.made;

    if (filled.looks && buffer.own >= 0 && contains(buffer.own_here, wanted)) {
      lead_to(buffer.own, wanted.first + wanted.extent, false);
      operand.base = buffer.own;
      operand.low = NO_LOW.data();
    } else {
      make(filled, wanted);
      operand.base = ~buffer.buffer;
      operand.low = gather.low;
    }
  }

  // The elements of a buffer that some rows of a nest name.
  [[nodiscard]] Interval named_by(const ParsedNest& nest, const GatheredBuffer& buffer,
                                  const Rows& rows) const {
    Interval named{0, 0};

    for (const auto& operand : nest.operands) {
      if (operand.base != buffer.rows) continue;

      const auto first = operand.low[0] + rows.first;
      named = hull(named, KnownColumns::instance().find(buffer.moment, first, rows.count, [&] {
        return columns_of(buffer, first, rows.count);
      }));
    }
    return overlap(named, buffer.made);
  }

  [[nodiscard]] Interval columns_of(const GatheredBuffer& buffer, std::int64_t first_row,
                                    std::int64_t num_rows) const {
    const auto* const rows = reinterpret_cast<const Rectangle*>(bases_[buffer.rows].origin);

    return named_columns(rows + first_row, num_rows, buffer.columns_here,
                         reinterpret_cast<const std::int64_t*>(bases_[buffer.columns].origin));
  }

  // Makes elements of a buffer, and what lies between them and those that it has already.
  void make(Filled& filled, const Interval& wanted) {
    const auto all = hull(filled.made, wanted);

    if (filled.made.extent == 0) {
      make_part(filled, all.first, all.first + all.extent);
    } else {
      make_part(filled, all.first, filled.made.first);
      make_part(filled, filled.made.first + filled.made.extent, all.first + all.extent);
    }
    filled.made = all;
  }

  void make_part(const Filled& filled, std::int64_t begin, std::int64_t end) {
    run(filled.maker, {0, begin - filled.buffer.made.first, end - begin});
  }

  std::vector<Member> leaders_;
  std::vector<Member> followers_;
  std::vector<Filled> filled_;
  const std::vector<Base>& bases_;
  Runner runner_;
  std::int64_t block_;
  std::int64_t frontier_{INT64_MAX};  // until when the leaders have run
  std::int64_t finish_{INT64_MIN};
};

}  // namespace

void GatheredTurns::run(Words& words, const Schedule& schedule, const std::vector<Base>& bases,
                        std::size_t num_arguments, std::int64_t num_tasks) const {
  const Bases known{bases, num_arguments};
  std::vector<Member> members;
  std::vector<std::int64_t> uses(bases.size());

  for (auto number = first_nest_; number < first_nest_ + num_nests_; ++number) {
    ParsedNest nest{words};
    const auto& kernel = kernel_of(nest.head);
    const auto num_rows = nest.head.extents[0];

    for (const auto& operand : nest.operands) ++uses[known.number(operand)];
    members.push_back({std::move(nest), kernel, schedule.shifts[number], num_rows, 0, {}});
  }
  for (const auto& buffer : buffers_) {
    if (buffer.own >= 0) ++uses[buffer.own];
  }
  for (auto& member : members) {
    const auto* const written = member.nest.operands.data();

    if (std::all_of(written, written + member.nest.head.num_written,
                    [&](const Operand& operand) { return uses[known.number(operand)] == 1; })) {
      member.unread = num_tasks * member.num_rows;
    }
  }
  std::vector<Filled> filled;
  std::vector<Member> leaders;
  std::vector<Member> followers{members.begin() + num_leaders_, members.end()};

  for (const auto& buffer : buffers_) {
    const auto looks =
        buffer.moment > 0 && KnownColumns::instance().has_come(buffer.moment, buffer.columns_here);

    filled.push_back({buffer, members[buffer.maker - first_nest_], looks});
  }
  for (auto number = first_nest_; number < first_nest_ + num_leaders_; ++number) {
    if (!is_maker(number)) leaders.push_back(members[number - first_nest_]);
  }
  for (auto& [nest, kernel, shift, num_rows, unread, gathers] : followers) {
    for (std::size_t operand = 0; operand < nest.operands.size(); ++operand) {
      for (std::size_t buffer = 0; buffer < buffers_.size(); ++buffer) {
        if (nest.operands[operand].base == ~buffers_[buffer].buffer) {
          gathers.push_back({buffer, operand, nest.operands[operand].low});
        }
      }
    }
  }
  Turns turns{
      std::move(leaders), std::move(followers), std::move(filled), bases, num_arguments, block_};

  turns.run();
  for (std::size_t buffer = 0; buffer < buffers_.size(); ++buffer) {
    if (is_needed_later_[buffer]) turns.complete(buffer);
  }
}

bool GatheredTurns::is_maker(std::int64_t nest) const {
  return std::any_of(buffers_.begin(), buffers_.end(),
                     [&](const GatheredBuffer& each) { return each.maker == nest; });
}

}  // namespace legate_diffuse
