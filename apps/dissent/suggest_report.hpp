// What `dissent suggest` says about its choice: the rows with their reasons, one sentence on all of them, and how
// stable the choice is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/table/table.hpp"
#include "pool_choice.hpp"

namespace dissent::cli {

struct Suggestion {
  std::string acquisition = {};
  std::string model = {};             // its kind
  Choice choice = {};                 // rows of the pool
  Table rows = {};                    // the chosen ones, with every column
  std::vector<std::string> why = {};  // of each
  std::size_t num_candidates = 0;
  std::string among = {};                       // among_text()
  std::string sentence = {};                    // of all
  std::optional<std::size_t> stable_rows = {};  // that another fit would choose too; no value if not tried
  std::uint64_t seed = 0;
};

// One sentence on what drove the choice.
std::string choice_sentence(const CampaignSettings& settings, const AcquisitionTask& task, const PoolChoice& pool,
                            const Choice& choice);

// "50,000 rows (2,000 drawn to choose among)"; `conditions`: these are the rows that may be chosen.
std::string among_text(std::size_t num_rows, std::size_t num_candidates, bool conditions);

// How many rows are in both choices.
std::size_t num_common(const Choice& one, const Choice& other);

// As CSV; - is standard output.
void write_suggestion(const std::string& output, const Suggestion& suggestion);

// To standard error if the table is on standard output.
void print_suggestion(const std::string& output, const Suggestion& suggestion);
void print_suggestion_json(const std::string& output, const Suggestion& suggestion);

}  // namespace dissent::cli
