// Which rows to label next: (model, training rows, candidates, batch size, random stream) -> rows with scores.
//
// Some methods score each row by itself and take the best B (`streams`). They can read a pool too large for memory, in
// constant memory, and choose the same rows. The others weigh the rows of a batch against each other and need all
// candidates at once. The random stream breaks ties: each row number has its own draw, so the order of rows, the number
// of threads and the size of blocks decide nothing.
//
// Inputs are row-major [N][C] in the user's units. To add a method, write a source with its function, a line in
// methods.hpp or scorers.hpp, a row in registry.cpp and a test. The command line reads the table. (A divergence whose
// row says so becomes three methods through its own registry: NAME, NAME-joint and NAME-aim.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/base/random.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

class Acquisition;
class PoolOnDevice;
class RowScorer;
class ScoreDevice;
struct AcquisitionTask;
struct Choice;
struct PoolTask;

struct AcquisitionInfo {
  std::string name;                            // as typed, without the parameter
  Parameter parameter = {};                    // "A": alpha of the divergence; "K": Acquisition::num_samples
  std::string summary;                         // one line, for lists
  std::string_view score;                      // what `Choice::scores` holds, one line
  const DivergenceInfo* divergence = nullptr;  // for methods built on one
  std::size_t candidates = 0;                  // rows drawn from the pool by default; 0: all
  std::size_t candidates_many_outputs = 0;     // the same for 257 outputs or more; 0: as `candidates`
  std::size_t candidates_paper = 0;            // the same in the paper, if it differs
  // What it looks at and what it needs from the model.
  bool uses_model = true;         // else it chooses at random
  bool uses_training = false;     // the inputs of the training rows
  bool needs_components = false;  // looks at where components differ; with only one it would choose at random
  bool needs_network = false;     // looks at the last layers of the components' networks
  bool estimates = false;         // chooses by an estimate of the disagreement, so it fills Choice::epistemic itself
  bool samples = false;           // estimates by Monte Carlo, which is slow per row
  bool uses_aim = false;          // AcquisitionTask::aim
  bool uses_cost = false;         // AcquisitionTask::cost; the others refuse one
  // Its function, one of the two: the first makes a scorer of single rows, the second weighs rows together.
  std::unique_ptr<RowScorer> (*scorer)(const Acquisition& acquisition, const AcquisitionTask& task) = nullptr;
  Choice (*choose)(const Acquisition& acquisition, const AcquisitionTask& task,
                   std::span<const double> candidates) = nullptr;
  // The same for rows on a device; null: they must be brought to the host.
  Choice (*choose_there)(const Acquisition& acquisition, const PoolTask& task) = nullptr;

  std::string typed_name() const { return method_name(name, parameter); }  // "mc:K"
  bool streams() const { return scorer != nullptr; }                       // scores each row by itself
};

// Every method, in list order.
const std::vector<AcquisitionInfo>& acquisitions();

// How methods that estimate the disagreement rank rows.
//   deficit  -ln(H(w) - estimate), which still tells rows apart where every estimate is H(w) to the last bit
//   value    the estimate in single precision, as in the paper; ties are broken at random
enum class Ranking { kDeficit, kValue };
std::string_view ranking_name(Ranking ranking);
Ranking ranking_from_name(std::string_view name);  // InputError for any other name
std::vector<std::string> ranking_names();

// What methods need to know about a model.
struct ModelTraits {
  std::size_t num_components = 1;  // with weight > 0
  bool has_network = true;         // so there is a last layer
};

// A method with its parameter: a plain value, as typed on a command line.
class Acquisition {
 public:
  // "kl", "mc:5000", "chernoff:0.3", "kl-joint", ...; an InputError gives the nearest name and lists all.
  static Acquisition parse(std::string_view text);

  const std::string& text() const { return text_; }  // parse(text()) gives the same method
  const AcquisitionInfo& info() const { return *info_; }
  const Divergence& divergence() const { return divergence_; }  // for methods built on one
  std::size_t num_samples() const { return num_samples_; }      // for methods that sample
  bool streams() const { return info_->streams(); }

  // InputError if the model lacks what the method needs.
  void check_model(const ModelTraits& model) const;

  // How many rows of the pool to choose among unless the user says otherwise; 0: all of them.
  std::size_t default_candidates(std::size_t num_outputs) const;
  // The same in the paper's experiments.
  std::size_t paper_candidates(std::size_t num_outputs) const;

 private:
  std::string text_;
  const AcquisitionInfo* info_ = nullptr;
  Divergence divergence_;
  std::size_t num_samples_ = 0;
};

// The rows the model was fitted on. bait and the lcmd methods look at their inputs; no other method looks at them.
struct LabelledRows {
  std::span<const double> inputs;   // [T][C]
  std::span<const double> targets;  // [T][D]
};

struct AcquisitionTask {
  const Ensemble& model;
  LabelledRows training;
  std::size_t batch = 1;
  Stream stream;  // e.g. Stream(seed, Purpose::kAcquire, round); not a substream, since rows take its substreams
  Executor* executor = nullptr;
  Ranking ranking = Ranking::kDeficit;
  // Inputs [A][C] at which predictions will be needed, for methods with uses_aim; if empty, they take candidates.
  std::span<const double> aim = {};
  // Inputs [P][C] of pending rows: their labels are on their way. Methods that weigh rows against each other count them
  // as earlier picks, since what they tell is not worth telling twice.
  std::span<const double> pending = {};
  // What a label of each candidate costs, [N], finite and > 0. Methods with uses_cost weigh what the label tells
  // against its cost. Empty: all cost the same.
  std::span<const double> cost = {};
  ScoreDevice* device = nullptr;  // does the sampling of batchbald, the same to the last digits; null: none
  bool aleatoric = true;          // fill Choice::aleatoric; for a flow this takes longer than choosing
  // If given, becomes [B][N]: what each candidate was worth at each pick, NaN once it is taken. For a pick this is its
  // score. badge draws, so a pick need not be worth the most; bait judges 2 B picks and drops half.
  std::vector<double>* utilities = nullptr;
};

// Rows whose components lie in a device's memory as means and standard deviations, [N][M][D].
struct PoolTask {
  PoolOnDevice& pool;
  std::size_t batch = 1;
  Stream stream;
  Executor* executor = nullptr;
  Ranking ranking = Ranking::kDeficit;
};

// B rows, in the order of choice.
struct Choice {
  std::vector<std::size_t> rows;  // numbers of the candidates, distinct
  std::vector<double>
      scores;  // larger is better: AcquisitionInfo::score, or the estimate when ranking by value. May be +infinity
  std::vector<double> epistemic;  // of each row by itself, nats: the method's own estimate, or kl if it has none
  std::vector<double> aleatoric;  // of each row by itself, nats, in output space; empty unless asked for
  double seconds = 0;             // for scoring and choosing, without checks and without values that only describe
};

// InputError when the batch is empty or larger than the number of candidates, for inputs that are not finite, and for
// a model that lacks what the method needs.
Choice choose(const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> candidates);

// The choice of choose() with given_ensemble() (ensemble/given_model.hpp) of the same rows, up to rounding. Only scores
// and a few rows leave the device. Choice::aleatoric stays empty. InputError also for methods and shapes that run on
// the host only, and for values that break a rule (see validate()).
Choice choose_there(const Acquisition& acquisition, const PoolTask& task);

// Fills `rows`, [up to its size / C][C], and returns how many rows it wrote: at least one until there are no more.
using RowSource = std::function<std::size_t(std::span<double> rows)>;

// The same choice from rows that are read block by block, for methods that stream (InputError for the others).
Choice choose_streaming(const Acquisition& acquisition, const AcquisitionTask& task, const RowSource& source);

// `count` distinct numbers below `pool_size`, uniform and ascending: the candidates of a round. All when count is 0 or
// not below pool_size.
std::vector<std::size_t> draw_candidates(std::size_t pool_size, std::size_t count, const Stream& stream);

// `count` of the rows, ascending, by a draw that belongs to each row number. So a smaller choice is part of a larger
// one, and chosen rows stay chosen when others are left out. All when count is not below their number.
std::vector<std::size_t> draw_nested(std::span<const std::size_t> rows, std::size_t count, const Stream& stream);

}  // namespace dissent
