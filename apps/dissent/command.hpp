// The subcommands. To add one, write NAME.cpp with its function, a declaration and a row here, a test in tests/cli and
// a section in docs/command_line.md.
//
// The function adds a command: its options and what it runs (command_line.hpp). A command prints with console.hpp and
// reports errors by throwing dissent::InputError or SystemError; main.cpp turns those into a line on standard error and
// an exit code.
#pragma once

#include <array>

#include "command_line.hpp"

namespace dissent::cli {

void add_score(Command& app);
void add_estimators(Command& app);
void add_fit(Command& app);
void add_predict(Command& app);
void add_evaluate(Command& app);
void add_recalibrate(Command& app);
void add_show(Command& app);
void add_acquisitions(Command& app);
void add_suggest(Command& app);
void add_learn(Command& app);
void add_ask(Command& app);
void add_tell(Command& app);
void add_status(Command& app);
void add_rounds(Command& app);
void add_export(Command& app);
void add_report(Command& app);
void add_collect(Command& app);
void add_policy(Command& app);
void add_study(Command& app);

// In the order of the help text.
inline constexpr std::array kCommands{&add_score,       &add_estimators, &add_fit,     &add_predict,      &add_evaluate,
                                      &add_recalibrate, &add_show,       &add_suggest, &add_acquisitions, &add_learn,
                                      &add_ask,         &add_tell,       &add_status,  &add_rounds,       &add_export,
                                      &add_report,      &add_collect,    &add_policy,  &add_study};

// Subcommands of policy.
void add_policy_train(Command& policy);
void add_policy_evaluate(Command& policy);
void add_policy_draw(Command& policy);

// Subcommands of study.
void add_study_status(Command& study);
void add_study_export(Command& study);
void add_study_show(Command& study);
void add_study_serve(Command& study);
void add_study_measure(Command& study);

}  // namespace dissent::cli
