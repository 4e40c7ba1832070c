// Arbitrary bytes as the state of a campaign: what loads must be whole.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "dissent/base/error.hpp"
#include "dissent/loop/campaign_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dissent;
  try {
    const Campaign campaign = parse_campaign({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    for (const ChosenRow& chosen : campaign.chosen) {
      if (chosen.round > campaign.rounds.size() ||
          (!chosen.targets.empty() && chosen.targets.size() != campaign.num_targets)) {
        std::abort();
      }
    }
  } catch (const InputError&) {
  }
  return 0;
}
