// Which rows to label next: (model, training rows, candidates, batch size, random stream) -> rows with scores.
//
// Some methods score each row by itself and take the best B (`streams`); they can read a pool too large for memory, in
// constant memory, with the same choice. The others weigh the rows of a batch against each other and need all
// candidates at once. Rows with equal scores are chosen by the random stream, which gives each row number its own draw:
// neither the order of rows nor the number of threads nor the size of blocks decides anything.
//
// Inputs are row-major [N][C] in the user's units. To add a method: a header and a source with its function, a row in
// the table of acquisition.cpp, a case in choose(), a test. The command line reads the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/random.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

enum class AcquisitionKind { kRandom, kVariance, kPairwise, kMonteCarlo, kJoint, kBatchBald, kBadge, kBait, kLcmd };

struct AcquisitionInfo {
  AcquisitionKind kind;
  std::string_view name;       // as typed, without the parameter
  std::string_view parameter;  // "K", a whole number; "A", in (0, 1); or none. Typed as name:parameter
  std::string_view summary;    // one line, for lists
  std::string_view score;      // what `Choice::scores` holds, one line
  bool streams;                // scores each row by itself
  std::size_t candidates;      // rows drawn from the pool by default; 0: all
};

// Every method there is, in the order of lists.
std::span<const AcquisitionInfo> acquisitions();

// Which method, with its parameter: a plain value, as typed on a command line.
class Acquisition {
 public:
  // "kl", "mc:5000", "chernoff:0.3", "kl-joint", ...; an InputError names the nearest name and lists what there is.
  static Acquisition parse(std::string_view text);

  const std::string& text() const { return text_; }  // parse(text()) gives the same method
  const AcquisitionInfo& info() const { return *info_; }
  AcquisitionKind kind() const { return info_->kind; }
  const Divergence& divergence() const { return divergence_; }  // of kPairwise and kJoint
  std::size_t num_samples() const { return num_samples_; }      // of kMonteCarlo and kBatchBald
  bool streams() const { return info_->streams; }

  // InputError for a single component where the method looks at what components differ by: it would choose by chance.
  void check_components(std::size_t num_components) const;

  // How many rows of the pool to choose among unless the user says otherwise; 0: all of them. The paper's numbers.
  std::size_t default_candidates(std::size_t num_outputs) const;

 private:
  std::string text_;
  const AcquisitionInfo* info_ = nullptr;
  Divergence divergence_;
  std::size_t num_samples_ = 0;
};

// The rows that the model was fitted on. bait and lcmd look at their inputs; the others do not look at all.
struct LabelledRows {
  std::span<const double> inputs;   // [T][C]
  std::span<const double> targets;  // [T][D]
};

struct AcquisitionTask {
  const Ensemble& model;
  LabelledRows training;
  std::size_t batch = 1;
  Stream stream;  // e.g. Stream(seed, Purpose::kAcquire, round); no substream, since rows take its substreams
  Executor* executor = nullptr;
  bool aleatoric = true;  // fill Choice::aleatoric, which a flow takes longer to integrate than to choose
  // If given, becomes [B][N]: what each candidate was worth at each pick, NaN once it is taken. The picks' own are
  // their scores. badge draws, so that a pick need not be worth most; bait judges 2 B picks and drops half.
  std::vector<double>* utilities = nullptr;
};

// B rows, in the order of choice.
struct Choice {
  std::vector<std::size_t> rows;  // numbers of the candidates, distinct
  std::vector<double> scores;     // larger is better; see AcquisitionInfo::score. May be +infinity
  std::vector<double> epistemic;  // of each row by itself, nats: the method's own estimate, or kl where it has none
  std::vector<double> aleatoric;  // of each row by itself, nats, in output space; empty unless asked for
};

// InputError when the batch is empty or larger than the number of candidates, for inputs that are not finite, and for
// components too few (check_components).
Choice choose(const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> candidates);

// Fills `rows`, [up to its size / C][C], and returns how many rows it wrote: at least one until there are no more.
using RowSource = std::function<std::size_t(std::span<double> rows)>;

// The same choice from rows that are read block by block, for methods that stream (InputError for the others).
Choice choose_streaming(const Acquisition& acquisition, const AcquisitionTask& task, const RowSource& source);

// `count` distinct numbers below `pool_size`, uniform and ascending: the candidates of a round. All when count is 0 or
// not below pool_size.
std::vector<std::size_t> draw_candidates(std::size_t pool_size, std::size_t count, const Stream& stream);

}  // namespace dissent
