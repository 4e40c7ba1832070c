// dissent study, in a program that was built without a database: says what it lacks.
#include "command.hpp"
#include "dissent/base/error.hpp"

namespace dissent::cli {

void add_study(Command& app) {
  Command& study =
      app.add("study", "Run grids of campaigns (not in this build)", "  dissent study run quick.toml --jobs 2");
  study.accept_anything();
  study.run(
      [] { fail("this program was built without studies: install {} and build it again", DISSENT_STUDY_PACKAGES); });
}

}  // namespace dissent::cli
