// Ctrl-C as a request: while an Interrupt lives, SIGINT is noted instead of ending the program, so that long work can
// save its state first.
//
//     const Interrupt interrupt;
//     ... work that looks at interrupt.requested() ...
//     if (stopped) { interrupt.end_program(); }  // by the signal, so that a script around it stops too
#pragma once

namespace dissent::cli {

class Interrupt {
 public:
  Interrupt();   // one at a time
  ~Interrupt();  // SIGINT does again what it did before
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;
  void end_program() const;

 private:
  void (*previous_)(int);
};

}  // namespace dissent::cli
