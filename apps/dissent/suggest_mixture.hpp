// dissent suggest --mixture: chooses rows by predictions in a file, Gaussians or probabilities of classes.
#pragma once

#include <string>

#include "dissent/loop/settings.hpp"

namespace dissent::cli {

struct MixtureSuggestion {
  std::string mixture;  // as `dissent score` takes it
  CampaignSettings settings;
  std::string acquisition;  // for classes, as typed; empty: bhattacharyya-joint. For Gaussians the settings have it
  std::string output;       // "-": standard output
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

void suggest_from_mixture(const MixtureSuggestion& asked);

}  // namespace dissent::cli
