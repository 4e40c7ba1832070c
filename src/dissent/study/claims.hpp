// The claims of the paper, and some of our own, each with a rule that was written down before the runs, and what the
// results say: it holds, it does not hold, or there is not enough data. docs/studies.md ("Verdicts") explains the
// rules.
//
// Only the last verdict may rest on fewer than kLeastSeeds seeds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/study/results.hpp"

namespace dissent {

constexpr std::size_t kLeastSeeds = 5;

enum class Verdict { kHolds, kFails, kOpen };
std::string_view verdict_name(Verdict verdict);  // "holds", "does not hold", "not enough data"

// What a claim's rule found on one problem, or at one size.
struct Finding {
  std::string where;  // "flow, hopper: kl against mc"
  Verdict verdict = Verdict::kOpen;
  std::string says = {};      // in words and numbers: effect, interval or p-value
  std::size_t num_seeds = 0;  // pairs, or runs of the smaller side
  // Runs that diverged and count as the worst of their problem. If ours has more of them, the finding cannot hold.
  std::size_t diverged_ours = 0;
  std::size_t diverged_theirs = 0;
  // For a claim of the paper: where it rests on less than the paper has, "10 of 100 rounds, 200 of 6000 epochs". For
  // one of ours: what it was tried on, "hetero (100 rounds)".
  std::string note = {};
};

struct JudgedClaim {
  std::string name;      // "humanoid"; unique
  std::string claim;     // one sentence
  bool of_paper = true;  // or one of ours
  std::string rule;      // one or two sentences
  Verdict verdict = Verdict::kOpen;
  std::string test;                    // "Welch, Holm within the problem"
  std::vector<Finding> findings = {};  // empty: nothing to judge by
  std::size_t num_seeds = 0;           // the fewest of the findings that decided

  std::string note = {};  // the notes of its findings, each once

  std::size_t num_diverged() const;  // findings with runs that diverged
};

// All claims, in a fixed order, whatever the results hold. Several studies may be judged together: each brings its own
// findings, and flows of one are compared with PNEs of another.
std::vector<JudgedClaim> judge_claims(std::span<const StudyResults> studies);

// Whether the studies have anything that the claims are about: problems of the paper, or measurements. The claims say
// nothing about campaigns on a user's own tables.
bool concern_claims(std::span<const StudyResults> studies);

// A sentence that names the verdicts that rest on runs that diverged; empty if none does.
std::string diverged_note(std::span<const JudgedClaim> claims);
// Likewise for verdicts that rest on less than the paper has.
std::string short_note(std::span<const JudgedClaim> claims);

}  // namespace dissent
