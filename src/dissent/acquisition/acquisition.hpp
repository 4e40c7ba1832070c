// Which rows to label next: (model, training rows, candidates, batch size, random stream) -> rows with scores.
//
// Some methods score each row by itself and take the best B (`streams`); they can read a pool too large for memory, in
// constant memory, with the same choice. The others weigh the rows of a batch against each other and need all
// candidates at once. Rows with equal scores are chosen by the random stream, which gives each row number its own draw:
// neither the order of rows nor the number of threads nor the size of blocks decides anything.
//
// Inputs are row-major [N][C] in the user's units. To add a method: a source with its function, a line in methods.hpp
// or scorers.hpp, a row in registry.cpp, a test. The command line reads the table. (A divergence whose
// row says so becomes three methods by its own registry: NAME, NAME-joint and NAME-aim.)
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
class RowScorer;
class ScoreDevice;
struct AcquisitionTask;
struct Choice;

struct AcquisitionInfo {
  std::string name;                            // as typed, without the parameter
  Parameter parameter = {};                    // "A": alpha of the divergence; "K": Acquisition::num_samples
  std::string summary;                         // one line, for lists
  std::string_view score;                      // what `Choice::scores` holds, one line
  const DivergenceInfo* divergence = nullptr;  // of the methods that are made of one
  std::size_t candidates = 0;                  // rows drawn from the pool by default; 0: all
  std::size_t candidates_many_outputs = 0;     // the same for 257 outputs or more; 0: as many
  std::size_t candidates_paper = 0;            // the same in the paper, where that is another number
  // What it looks at, and what it asks of the model.
  bool uses_model = true;         // else it chooses by chance
  bool uses_training = false;     // the inputs of the training rows
  bool needs_components = false;  // looks at where components differ: with a single one it would choose by chance
  bool needs_network = false;     // looks at the last layers of the components' networks
  bool estimates = false;         // chooses by an estimate of the disagreement, and so has Choice::epistemic of its own
  bool samples = false;           // by Monte Carlo, which takes long for a row
  bool uses_aim = false;          // AcquisitionTask::aim
  bool uses_cost = false;         // AcquisitionTask::cost; the others refuse one
  // Its function: one of the two. The first makes what scores each row by itself, the second weighs rows together.
  std::unique_ptr<RowScorer> (*scorer)(const Acquisition& acquisition, const AcquisitionTask& task) = nullptr;
  Choice (*choose)(const Acquisition& acquisition, const AcquisitionTask& task,
                   std::span<const double> candidates) = nullptr;

  std::string typed_name() const { return method_name(name, parameter); }  // "mc:K"
  bool streams() const { return scorer != nullptr; }                       // scores each row by itself
};

// Every method there is, in the order of lists.
const std::vector<AcquisitionInfo>& acquisitions();

// What the methods that estimate the disagreement rank rows by.
//   deficit  -ln(H(w) - estimate), which still tells rows apart where every estimate is H(w) to the last bit
//   value    the estimate in single precision, as the paper does; rows that tie are chosen by chance
enum class Ranking { kDeficit, kValue };
std::string_view ranking_name(Ranking ranking);
Ranking ranking_from_name(std::string_view name);  // InputError for any other name
std::vector<std::string> ranking_names();

// What a method may ask of a model.
struct ModelTraits {
  std::size_t num_components = 1;  // whose weight is not 0
  bool has_network = true;         // so that there is a last layer
};

// Which method, with its parameter: a plain value, as typed on a command line.
class Acquisition {
 public:
  // "kl", "mc:5000", "chernoff:0.3", "kl-joint", ...; an InputError names the nearest name and lists what there is.
  static Acquisition parse(std::string_view text);

  const std::string& text() const { return text_; }  // parse(text()) gives the same method
  const AcquisitionInfo& info() const { return *info_; }
  const Divergence& divergence() const { return divergence_; }  // of the methods that are made of one
  std::size_t num_samples() const { return num_samples_; }      // of those that sample
  bool streams() const { return info_->streams(); }

  // InputError where the model lacks what the method needs.
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

// The rows that the model was fitted on. bait and the lcmd methods look at their inputs; the others do not look at all.
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
  Ranking ranking = Ranking::kDeficit;
  // Inputs [A][C] at which predictions will be needed, for methods that use_aim; without, they take candidates.
  std::span<const double> aim = {};
  // Inputs [P][C] of rows whose labels are on their way: to methods that weigh rows against each other they are picks
  // made before, for what those tell is not worth telling twice.
  std::span<const double> pending = {};
  // What a label of each candidate costs, [N], finite and > 0: methods that use_cost weigh what it tells against that.
  // Empty: all cost the same.
  std::span<const double> cost = {};
  ScoreDevice* device = nullptr;  // does the sampling of batchbald, to the last digits the same; null: nothing
  bool aleatoric = true;          // fill Choice::aleatoric, which a flow takes longer to integrate than to choose
  // If given, becomes [B][N]: what each candidate was worth at each pick, NaN once it is taken. The picks' own are
  // their scores. badge draws, so that a pick need not be worth most; bait judges 2 B picks and drops half.
  std::vector<double>* utilities = nullptr;
};

// B rows, in the order of choice.
struct Choice {
  std::vector<std::size_t> rows;  // numbers of the candidates, distinct
  std::vector<double>
      scores;  // larger is better: AcquisitionInfo::score, or the estimate where that ranks. May be +infinity
  std::vector<double> epistemic;  // of each row by itself, nats: the method's own estimate, or kl where it has none
  std::vector<double> aleatoric;  // of each row by itself, nats, in output space; empty unless asked for
  double seconds = 0;             // that scoring and choosing took, without checks and without what only describes
};

// InputError when the batch is empty or larger than the number of candidates, for inputs that are not finite, and for
// a model that lacks what the method needs.
Choice choose(const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> candidates);

// Fills `rows`, [up to its size / C][C], and returns how many rows it wrote: at least one until there are no more.
using RowSource = std::function<std::size_t(std::span<double> rows)>;

// The same choice from rows that are read block by block, for methods that stream (InputError for the others).
Choice choose_streaming(const Acquisition& acquisition, const AcquisitionTask& task, const RowSource& source);

// `count` distinct numbers below `pool_size`, uniform and ascending: the candidates of a round. All when count is 0 or
// not below pool_size.
std::vector<std::size_t> draw_candidates(std::size_t pool_size, std::size_t count, const Stream& stream);

// `count` of the rows, ascending, by a draw that belongs to each row's number: a smaller number of them, or of more
// rows, is a part of a larger one. All when count is not below their number.
std::vector<std::size_t> draw_nested(std::span<const std::size_t> rows, std::size_t count, const Stream& stream);

}  // namespace dissent
