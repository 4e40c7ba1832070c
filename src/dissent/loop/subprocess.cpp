#include "dissent/loop/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }

  int get() const { return value_; }
  bool open() const { return value_ >= 0; }
  void close() {
    if (value_ >= 0) {
      ::close(std::exchange(value_, -1));
    }
  }

 private:
  int value_;
};

[[noreturn]] void fail_call(const char* call) {
  fail_system("the command cannot be run: {}: {}", call, std::strerror(errno));
}

// The input as a file in memory: the command reads it at its own pace, or not at all, and nothing here can block or get
// a broken pipe.
Descriptor memory_file(std::string_view text) {
  Descriptor file(::memfd_create("dissent-oracle-input", MFD_CLOEXEC));
  if (!file.open()) {
    fail_call("memfd_create");
  }
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      fail_call("write");
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) {
    fail_call("lseek");
  }
  return file;
}

// Between fork and exec: does only what is safe in a process that had several threads.
[[noreturn]] void become(const char* command, int input, int output, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(127);  // it died before the line above
  }
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM}) {
    ::signal(signal, SIG_DFL);
  }
  ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  ::_exit(127);
}

// The process group of each running command, for a signal handler to find: plain memory, never moved. A group beyond
// the table's end is just not found.
std::array<std::atomic<pid_t>, 16> running_groups{};

void note_group(pid_t group) noexcept {
  for (std::atomic<pid_t>& place : running_groups) {
    pid_t none = 0;
    if (place.compare_exchange_strong(none, group)) {
      return;
    }
  }
}

void forget_group(pid_t group) noexcept {
  for (std::atomic<pid_t>& place : running_groups) {
    pid_t expected = group;
    place.compare_exchange_strong(expected, 0);
  }
}

// A running command; its group is killed if the object dies before wait().
class Child {
 public:
  Child(const std::string& command, int input, int output) {
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) {
      fail_call("fork");
    }
    if (pid_ == 0) {
      become(command.c_str(), input, output, parent);
    }
    ::setpgid(pid_, pid_);  // here as well, so that it holds before the first kill
    note_group(pid_);
    ended_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!ended_.open()) {
      kill_and_wait();
      fail_call("pidfd_open");
    }
  }
  ~Child() { kill_and_wait(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int ended_descriptor() const { return ended_.get(); }  // readable once it has ended

  int wait() {
    int status = 0;
    forget_group(pid_);  // before its number can be reused
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  void kill_and_wait() {
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      wait();
    }
  }

  pid_t pid_ = -1;
  Descriptor ended_;
};

using Clock = std::chrono::steady_clock;

constexpr double kStopSeconds = 0.1;  // between calls of stop

// Infinite without a limit.
double remaining_seconds(const SubprocessOptions& options, Clock::time_point start) {
  return options.timeout_seconds <= 0
             ? std::numeric_limits<double>::infinity()
             : options.timeout_seconds - std::chrono::duration<double>(Clock::now() - start).count();
}

// For poll(): -1 for no limit.
int wait_ms(const SubprocessOptions& options, double remaining) {
  const double seconds = options.stop ? std::min(kStopSeconds, remaining) : remaining;
  return std::isinf(seconds) ? -1 : static_cast<int>(std::min(1e9, std::max(0.0, std::ceil(1000 * seconds))));
}

void check_status(int status) {
  if (WIFSIGNALED(status)) {
    fail("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  const int code = WEXITSTATUS(status);
  check(code != 127, "ended with exit code 127: the command was not found");
  check(code == 0, "ended with exit code {}", code);
}

}  // namespace

void kill_commands() noexcept {
  for (const std::atomic<pid_t>& group : running_groups) {
    if (const pid_t running = group; running > 0) {
      ::kill(-running, SIGKILL);
    }
  }
}

std::optional<std::string> run_command(const std::string& command, std::string_view input,
                                       const SubprocessOptions& options) {
  const Descriptor stdin_file = memory_file(input);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail_call("pipe2");
  }
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const Clock::time_point start = Clock::now();
  Child child(command, stdin_file.get(), writer.get());
  writer.close();

  std::string output;
  std::array<char, 65536> buffer;
  bool ended = false;
  while (reader.open() || !ended) {
    std::array<pollfd, 2> wanted{{{reader.get(), POLLIN, 0}, {ended ? -1 : child.ended_descriptor(), POLLIN, 0}}};
    const double remaining = remaining_seconds(options, start);
    const int ready = ::poll(wanted.data(), wanted.size(), ended ? 0 : wait_ms(options, remaining));
    if (ended && ready == 0) {
      break;  // all that the command wrote is read; a program it left behind may hold the pipe for ever
    }
    if (ready < 0 && errno != EINTR) {
      fail_call("poll");
    }
    if (options.stop && options.stop()) {
      return std::nullopt;  // ~Child kills it
    }
    check(ready != 0 || remaining > 0, "did not end within {} s and was killed", options.timeout_seconds);
    if (ready > 0 && wanted[0].revents != 0) {
      const ssize_t count = ::read(reader.get(), buffer.data(), buffer.size());
      if (count > 0) {
        output.append(buffer.data(), static_cast<std::size_t>(count));
        check(output.size() <= options.max_output_bytes, "wrote more than {} bytes and was killed",
              options.max_output_bytes);
      } else if (count == 0 || errno != EINTR) {
        reader.close();
      }
    }
    ended = ended || (ready > 0 && wanted[1].revents != 0);
  }
  check_status(child.wait());
  return output;
}

}  // namespace dissent
