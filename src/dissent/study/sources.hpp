// Results of one or more studies, from one or more stores and files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dissent/study/results.hpp"

namespace dissent {

// The studies of all sources, each once, in the order in which they come first. A source is a store, by
// URL or file, or a file of `dissent study export` (source.hpp). What several have of the same study is put together: a
// campaign that is in more than one counts once, as it is where it came further. `names` are the studies to read;
// without, a store must have only one. InputError for a name that no source has, and for a source that is none.
std::vector<StudyResults> read_sources(std::span<const std::string> sources, std::span<const std::string> names = {});

// All of them as one. Methods that a task has in more than one study are told apart by an axis of their own: "kl,
// study=beyond" for those of all but the first of these.
StudyResults pooled(std::span<const StudyResults> studies);

}  // namespace dissent
