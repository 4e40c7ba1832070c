// Results of one or more studies, from one or more stores and files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/study/results.hpp"

namespace dissent {

// Whether it is the name of a file of `dissent study export`.
bool is_export_file(std::string_view source);

// The studies of all sources, each once, in the order in which they come first. A source is a store's URL or a file of
// `dissent study export`. What several have of the same study is put together: a campaign that is in more than one
// counts once, as it is where it came further. `names` are the studies to read; without, a store must have only one.
// InputError for a name that no source has.
std::vector<StudyResults> read_sources(std::span<const std::string> sources, std::span<const std::string> names = {});

// All of them as one. Methods that a task has in more than one study are told apart by an axis of their own: "kl,
// study=beyond" for those of all but the first of these.
StudyResults pooled(std::span<const StudyResults> studies);

}  // namespace dissent
