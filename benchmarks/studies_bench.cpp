// What a study costs beyond its campaigns: runs the cells of a grid by themselves or as a worker on a store.
//
//     studies_bench GRID        campaigns alone, kept in memory
//     studies_bench GRID URL    a worker on that store, together with others
//
// Prints one line of JSON: models fitted, seconds, and processor seconds.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <optional>

#include "dissent/base/error.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/study/run.hpp"

namespace dissent {
namespace {

class MemoryStore final : public CampaignStore {
 public:
  std::string name() const override { return "memory"; }
  bool begun() const override { return campaign_.has_value(); }
  void hold() override {}
  Campaign load() const override { return campaign_.value(); }
  void save(const Campaign& campaign) override { campaign_ = campaign; }
  void save_model(const Ensemble&) override {}
  std::optional<Ensemble> load_model(std::uint64_t) const override { return std::nullopt; }
  void save_data(const CampaignTables&) override {}
  CampaignTables load_data() const override { fail("no tables are kept"); }
  void clear() override { campaign_.reset(); }
  void write_tables(const Campaign&, const Problem&) override {}

 private:
  std::optional<Campaign> campaign_;
};

std::size_t run_alone(const Grid& grid) {
  std::size_t models = 0;
  for (const Cell& cell : grid.cells) {
    const Problem data = cell_problem(cell);
    MemoryStore place;
    Campaign campaign = open_campaign(place, data, cell.campaign_settings());
    TableOracle oracle;
    learn(place, campaign, data, oracle, cell.rounds);
    models += measured_models(campaign).size();
  }
  return models;
}

std::size_t run_on_store(const Grid& grid, const std::string& url) {
  const auto store = StudyStore::open(url);
  store->add(grid);
  StudyControl control;
  control.worker = worker_name();
  std::size_t models = 0;
  control.finished_round = [&](const Claim&, const RoundRecord&) { ++models; };
  return models + run_cells(*store, grid, control);  // and the last model of each
}

void run(int argc, char** argv) {
  check(argc == 2 || argc == 3, "studies_bench GRID [URL]");
  const Grid grid = read_grid(argv[1]);
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t used = std::clock();
  const std::size_t models = argc == 2 ? run_alone(grid) : run_on_store(grid, argv[2]);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("{\"models\": %zu, \"seconds\": %.6g, \"cpu_seconds\": %.6g}\n", models, seconds.count(),
              static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace dissent

int main(int argc, char** argv) {
  try {
    dissent::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
