// The subcommands. To add one: a file NAME.cpp with its function, a declaration and a row here, a test in tests/cli, a
// section in docs/command_line.md.
//
// The function adds a subcommand with its options and a callback that does the work. A callback prints with
// console.hpp and reports what is wrong by throwing (dissent::InputError and SystemError); main.cpp turns that into a
// line on standard error and an exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <array>

namespace dissent::cli {

void add_score(CLI::App& app);
void add_estimators(CLI::App& app);
void add_fit(CLI::App& app);
void add_predict(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_recalibrate(CLI::App& app);
void add_show(CLI::App& app);
void add_acquisitions(CLI::App& app);
void add_suggest(CLI::App& app);
void add_learn(CLI::App& app);
void add_ask(CLI::App& app);
void add_tell(CLI::App& app);
void add_rounds(CLI::App& app);
void add_collect(CLI::App& app);
void add_policy(CLI::App& app);

// In the order of the help text.
inline constexpr std::array kCommands{&add_score,       &add_estimators, &add_fit,     &add_predict,      &add_evaluate,
                                      &add_recalibrate, &add_show,       &add_suggest, &add_acquisitions, &add_learn,
                                      &add_ask,         &add_tell,       &add_rounds,  &add_collect,      &add_policy};

}  // namespace dissent::cli
