// The message for a name that should be of results but is not.
#pragma once

#include <string>

namespace dissent {

// InputError: what the file looks like, what was expected, and what to do with a file of that kind. `why`, if more
// is known than the first bytes tell, replaces the first and the last of these.
[[noreturn]] void refuse_source(const std::string& path, const std::string& why = {});

}  // namespace dissent
