// Options that mean the same in every command, and checks of the files that commands write.
#pragma once

#include <cstdint>
#include <string>

#include "command_line.hpp"

namespace dissent::cli {

// Fails as the final write would, before hours of work whose result could not be saved.
void check_writable(const std::string& path);
// The same for a file that is not text. It cannot be "-": standard output is for text that people read.
void check_binary_output(const std::string& path);
// A table is written as CSV whatever its name, so another ending would mislead. "-" is standard output.
void check_csv_output(const std::string& path);

void add_threads(Command& command, int& threads);
void add_device(Command& command, std::string& device,
                std::string_view help = "Where networks are trained: cpu, cuda, or cuda:N for card N");
void add_seed(Command& command, std::uint64_t& seed);
void add_json(Command& command, bool& json);
void add_quiet(Command& command, bool& quiet);

}  // namespace dissent::cli
