// Ctrl-C as a request: while an Interrupt lives, the first Ctrl-C is only noted, so that the current step can end and
// be saved; the second ends the program at once.
#pragma once

#include <csignal>

namespace dissent::cli {

// A signal handler: ends what an oracle runs, removes half-written files, then lets the signal end the program.
void end_by_signal(int signal);

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool noted() const;

  // Ends the program as an interrupt does, so that a script around it stops too.
  [[noreturn]] static void end_program();

 private:
  struct sigaction previous_ {};
};

}  // namespace dissent::cli
