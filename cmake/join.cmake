# Joined sources: several compiled as one parse their headers once and share what they instantiate, which takes a compiler
# half as long or less; but a change to one compiles all of them again, and one that forgets an #include may not be
# noticed. DISSENT_JOIN is
#   OFF    each source alone
#   TESTS  the tests' sources
#   ALL    all sources, as the sanitizers' builds do
# That each source compiles alone is known from the release build for the library, from the preset `dev` for the tests.
set(DISSENT_JOIN OFF CACHE STRING "Compile sources of a folder together: OFF, TESTS or ALL")

# names_within(SOURCE OUT): the names that the unnamed namespaces of a source define, of types, functions and constants.
# They stand at the start of a line, as clang-format puts them.
function(names_within source out)
  file(READ ${source} text)
  string(REGEX REPLACE "[;[]|\\]" "," text "${text}")  # which CMake's lists do not take
  string(REGEX MATCH "\nnamespace {\n.*\n}  // namespace\n" text "${text}")
  string(REGEX REPLACE "\n(TEST|TYPED_TEST|INSTANTIATE|using|return|template)[^\n]*" "" text "${text}")
  string(REGEX MATCHALL "\n(struct|class|enum class) [A-Za-z0-9_]+" types "${text}")
  string(REGEX MATCHALL "\n[a-z][^\n=({]*[ &*][A-Za-z0-9_]+( =|[({,])" others "${text}")
  list(TRANSFORM types REPLACE ".* " "")
  list(TRANSFORM others REPLACE ".*[ &*]([A-Za-z0-9_]+)( =|[({,])$" "\\1")
  set(names ${types} ${others})
  list(REMOVE_DUPLICATES names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Sources that mean another thing by a name than a header of their neighbours does.
set(apart study/measure study/measure_seconds study/paper_numbers table/csv_test ensemble/spread_test
          ensemble/quality_test ensemble/quality_slow_test)
list(JOIN apart "|" apart)

# join_sources(TARGET LIMIT): compiles up to LIMIT sources of a folder as one, where their unnamed namespaces have no name
# in common. Alone stay those above, Highway's kernels, which include themselves, and what has options of its own.
function(join_sources target limit)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    if(NOT source MATCHES "\\.cpp$" OR source MATCHES "/(${apart})\\.cpp$")
      continue()
    endif()
    file(STRINGS ${source} kernel REGEX "foreach_target" LIMIT_COUNT 1)
    if(kernel)
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    names_within(${source} names)
    set(number 0)
    while(TRUE)
      set(group ${folder}_${number})
      set(clash "")
      foreach(name ${names})
        if(name IN_LIST names_${group})
          list(APPEND clash ${name})
        endif()
      endforeach()
      list(LENGTH sources_${group} count)
      if(NOT clash AND count LESS limit)
        break()
      endif()
      math(EXPR number "${number} + 1")
    endwhile()
    list(APPEND names_${group} ${names})
    list(APPEND sources_${group} ${source})
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A private type whose field is of an unnamed namespace: no harm in a source, but here the compiler takes it for a header.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
