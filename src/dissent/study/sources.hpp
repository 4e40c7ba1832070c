// Results of one or more studies, from one or more stores and files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dissent/study/results.hpp"

namespace dissent {

// The studies of all sources, each once, in the order in which they first appear. A source is a store, by URL or file,
// or a file of `dissent study export` (source.hpp). What several sources have of the same study is put together: a
// campaign that is in more than one counts once, as it is where it came further. `names` are the studies to read;
// without names, a store must have only one. InputError for a name that no source has, and for an invalid source.
std::vector<StudyResults> read_sources(std::span<const std::string> sources, std::span<const std::string> names = {});

// All studies as one. Methods that a task has in more than one study are told apart by an axis of their own: "kl,
// study=beyond" in all but the first of these studies.
StudyResults pooled(std::span<const StudyResults> studies);

}  // namespace dissent
