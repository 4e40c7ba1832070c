#include "interrupt.hpp"

#include <unistd.h>

#include "console.hpp"
#include "dissent/base/file.hpp"
#include "dissent/loop/subprocess.hpp"

namespace dissent::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interrupt(int signal) {
  if (interrupted != 0) {
    end_by_signal(signal);
  }
  interrupted = 1;
}

constexpr int kInterruptedExit = 130;  // as a shell reports it

}  // namespace

void end_by_signal(int signal) {
  kill_commands();
  remove_temporary_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

Interrupt::Interrupt() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &previous_);
}

Interrupt::~Interrupt() { ::sigaction(SIGINT, &previous_, nullptr); }

bool Interrupt::noted() const { return interrupted != 0; }

void Interrupt::end_program() {
  flush_output();
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
  ::_exit(kInterruptedExit);  // if the signal is blocked
}

}  // namespace dissent::cli
