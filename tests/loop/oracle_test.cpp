#include "dissent/loop/oracle.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/loop/subprocess.hpp"
#include "loop/loop_fixture.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

const std::vector<std::size_t> kRows{3, 0, 41};

std::string refused(const std::string& command, double timeout_seconds = 0) {
  CommandOracle oracle(command, timeout_seconds);
  return message_of<InputError>([&] { oracle.label(small_problem(), kRows); });
}

TEST(Oracle, ATableAnswersFromThePool) {
  const Problem data = small_problem();
  TableOracle oracle;
  const std::vector<double> targets = oracle.label(data, kRows).value();
  ASSERT_EQ(targets.size(), 6U);
  EXPECT_EQ(targets[0], data.pool.targets[6]);
  EXPECT_EQ(targets[5], data.pool.targets[83]);
}

TEST(Oracle, ACommandReadsInputsAndWritesTargetsInAnyOrderOfColumns) {
  const Problem data = small_problem();
  // y1 = x0 * x1 and y0 = x0, in awk's six digits.
  CommandOracle oracle(R"(awk -F, 'NR == 1 { print "y1,y0"; next } { printf "%.17g,%s\n", $1 * $2, $1 }')");
  const std::vector<double> targets = oracle.label(data, kRows).value();
  for (std::size_t k = 0; k < kRows.size(); ++k) {
    EXPECT_EQ(targets[2 * k], data.pool.inputs[2 * kRows[k]]);
    EXPECT_DOUBLE_EQ(targets[2 * k + 1], data.pool.targets[2 * kRows[k] + 1]);
  }
}

TEST(Oracle, WhatGoesWrongIsSaid) {
  EXPECT_EQ(refused("exit 3"), "oracle 'exit 3': ended with exit code 3");
  EXPECT_EQ(refused("no-such-program-x 2>/dev/null").substr(0, 67),
            "oracle 'no-such-program-x 2>/dev/null': ended with exit code 127: t");
  EXPECT_NE(refused("kill -SEGV $$").find("killed by signal 11"), std::string::npos);
  EXPECT_NE(refused("true").find("the answer of oracle 'true': "), std::string::npos);
  EXPECT_NE(refused("echo y0,y1; echo 1,2").find("': has 1 row; it was asked for 3"), std::string::npos);
  EXPECT_NE(refused("echo y0,z; printf '1,2\\n%.0s' 1 2 3").find("has no column 'y1'"), std::string::npos);
  EXPECT_NE(refused("echo y0,y1; printf '1,nan\\n%.0s' 1 2 3").find("column 'y1' row 1: 'nan' is not a finite number"),
            std::string::npos);
  EXPECT_NE(refused("echo y0,y1; printf '1,\\n%.0s' 1 2 3").find("column 'y1' row 1: the value is missing"),
            std::string::npos);
  EXPECT_NE(refused("echo y0,y1; printf '1,bad\\n%.0s' 1 2 3").find("'bad' is text"), std::string::npos);
  EXPECT_NE(refused("yes").find("wrote more than"), std::string::npos);
}

TEST(Oracle, AHangingCommandIsKilledWithAllItStarted) {
  const TempDir dir;
  // The grandchild holds a pipe open, as it does the output; we are told when its last writer is gone.
  const std::string gate = dir.file("gate");
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  pollfd reader{::open(gate.c_str(), O_RDONLY | O_NONBLOCK), POLLIN, 0};
  ::close(::open(gate.c_str(), O_WRONLY));
  EXPECT_NE(refused("sleep 1000 3> " + gate + " & sleep 1000", 0.2).find("did not end within 0.2 s and was killed"),
            std::string::npos);
  EXPECT_EQ(::poll(&reader, 1, -1), 1);
  EXPECT_NE(reader.revents & POLLHUP, 0);
  ::close(reader.fd);
  EXPECT_NE(refused("exec >&-; sleep 1000", 0.05).find("did not end within"), std::string::npos);
}

TEST(Oracle, ACommandThatIsStoppedEndsWithAllItStarted) {
  const TempDir dir;
  const std::string gate = dir.file("gate");
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  pollfd reader{::open(gate.c_str(), O_RDONLY | O_NONBLOCK), POLLIN, 0};
  // Stopped once the grandchild has the pipe open and has written to it.
  const auto started = [&] { return ::poll(&reader, 1, 0) == 1 && (reader.revents & POLLIN) != 0; };
  CommandOracle oracle("(echo here >&3; sleep 1000) 3> " + gate + " & sleep 1000", 0, started);
  EXPECT_FALSE(oracle.label(small_problem(), kRows).has_value());
  std::array<char, 16> here{};
  EXPECT_EQ(::read(reader.fd, here.data(), here.size()), 5);
  EXPECT_EQ(::poll(&reader, 1, -1), 1);
  EXPECT_NE(reader.revents & POLLHUP, 0);
  ::close(reader.fd);
}

TEST(Oracle, AProgramLeftBehindIsNotWaitedFor) {
  const std::string left = "sleep 1000 & echo $!; seq 20000";  // more than a pipe holds
  const std::string output = run_command(left, "").value();
  ::kill(std::stoi(output), SIGKILL);
  EXPECT_TRUE(output.ends_with("\n19999\n20000\n"));
}

TEST(Oracle, ACommandMayIgnoreItsInput) {
  Problem data = small_problem(20000);
  std::vector<std::size_t> rows(20000);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  CommandOracle oracle("echo y0,y1; yes 1,2 | head -n 20000");
  EXPECT_EQ(oracle.label(data, rows)->size(), 40000U);
}

}  // namespace
}  // namespace dissent
