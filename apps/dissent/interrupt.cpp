#include "interrupt.hpp"

#include <csignal>

namespace dissent::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;
extern "C" void note_interrupt(int) { interrupted = 1; }

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  previous_ = std::signal(SIGINT, note_interrupt);
}

Interrupt::~Interrupt() { std::signal(SIGINT, previous_); }

bool Interrupt::requested() const { return interrupted != 0; }

void Interrupt::end_program() const {
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

}  // namespace dissent::cli
