// Options that mean the same in every command, and the shape of a help text.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace dissent::cli {

// A subcommand whose help ends in `examples`, one command line each.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& examples);

// For Option::check(): returns what is wrong with a value, or nothing.
using Check = std::function<std::string(const std::string& text)>;
inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
Check number_from(double min);
Check whole_number(std::uint64_t min, std::uint64_t max = kNoLimit);
std::string not_empty(const std::string& text);  // an empty value is an unset variable in someone's script

// Before hours of work whose result could then not be saved: fails as the final write would.
void check_writable(const std::string& path);
// A table is written as CSV, whatever it is called: another ending would mislead. "-" is standard output.
void check_csv_output(const std::string& path);
// An output that would replace what is read; empty names are no files.
void check_distinct(const std::string& output, const std::string& other, const std::string& why = "is read as well");

CLI::Option* add_threads(CLI::App& command, int& threads);
CLI::Option* add_seed(CLI::App& command, std::uint64_t& seed);
CLI::Option* add_json(CLI::App& command, bool& json);
CLI::Option* add_quiet(CLI::App& command, bool& quiet);

}  // namespace dissent::cli
