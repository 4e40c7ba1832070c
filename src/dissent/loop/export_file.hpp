// Whether a file may be replaced by the export of a campaign: only an earlier export may.
#pragma once

#include <string>

namespace dissent {

// InputError if the file is there, is not empty, and is neither the table nor the JSON of an export (export.hpp).
void check_export_replaces(const std::string& path);

}  // namespace dissent
