# Joined sources: several compiled as one parse their headers once and share what they instantiate, which is faster. But
# a change to one recompiles all of them, and a forgotten #include may go unnoticed.
# DISSENT_JOIN is
#   OFF  each source alone
#   ON   several of a folder, which is what `./do` builds and tests
# The preset `dev`, for daily work, shows whether each source compiles alone, without precompiled headers too; no test
# does.
option(DISSENT_JOIN "Compile sources of a folder together" OFF)

# names_within(SOURCE OUT): the names of types, functions and constants that a source's unnamed namespaces define.
# Definitions start at the beginning of a line, as clang-format puts them.
function(names_within source out)
  file(READ ${source} text)
  string(REGEX REPLACE "[;[]|\\]" "," text "${text}")  # CMake's lists cannot hold these
  string(REGEX MATCH "\nnamespace {\n.*\n}  // namespace\n" text "${text}")
  string(REGEX REPLACE "\n(TEST|TYPED_TEST|INSTANTIATE|using|return|template)[^\n]*" "" text "${text}")
  string(REGEX MATCHALL "\n(struct|class|enum class) [A-Za-z0-9_]+" types "${text}")
  string(REGEX MATCHALL "\n[A-Za-z][^\n=({]*[ &*][A-Za-z0-9_]+( =|[({,])" others "${text}")
  list(TRANSFORM types REPLACE ".* " "")
  list(TRANSFORM others REPLACE ".*[ &*]([A-Za-z0-9_]+)( =|[({,])$" "\\1")
  set(names ${types} ${others})
  list(REMOVE_DUPLICATES names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Sources that stay alone: they use a name differently from a header of their neighbours, or a module is linked without
# them (array/hdf5, see python).
set(apart dissent/collect study/measure study/measure_seconds study/paper_numbers array/hdf5[a-z_]* table/csv_test
          ensemble/spread_test ensemble/quality_test ensemble/quality_slow_test)
list(JOIN apart "|" apart)

# stays_alone(SOURCE OUT): those above; Highway's kernels, which include themselves; what is not a source of this
# folder; and what has its own definitions or include folders.
function(stays_alone source out)
  set(${out} TRUE PARENT_SCOPE)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${source} ours)
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} built)
  if(NOT ours OR built OR NOT source MATCHES "\\.cpp$" OR source MATCHES "/(${apart})\\.cpp$")
    return()
  endif()
  file(STRINGS ${source} kernel REGEX "foreach_target" LIMIT_COUNT 1)
  get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
  get_source_file_property(folders ${source} INCLUDE_DIRECTORIES)
  if(NOT kernel AND NOT definitions AND NOT folders)
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

# join_sources(TARGET LIMIT): compiles up to LIMIT sources of a folder as one, if their unnamed namespaces have no name
# in common. All sources of a folder have the same options. CMake's own UNITY_BUILD leaves sources with options alone,
# and writes this folder's path into what it joins, so that no other copy of the folder finds it in a compiler cache.
function(join_sources target limit)
  get_target_property(sources ${target} SOURCES)
  set(alone "")
  set(groups "")
  foreach(source ${sources})
    if(source MATCHES "^\\$<")
      list(APPEND alone ${source})
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source)
    stays_alone(${source} stays)
    if(stays)
      list(APPEND alone ${source})
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
    list(APPEND groups ${group})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    join_group(${target} ${group} ${sources_${group}})
    list(APPEND alone ${joined})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${alone}")
  # A private type with a field from an unnamed namespace: harmless in a source, but the compiler takes it for a header
  # here.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# join_group(TARGET GROUP SOURCE...): sets `joined` to a source that includes all of them, or to the only one.
function(join_group target group first)
  if(NOT ARGN)
    set(joined ${first} PARENT_SCOPE)
    return()
  endif()
  set(text "")
  foreach(source ${first} ${ARGN})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(APPEND text "#include \"${source}\"\n")
  endforeach()
  set(file ${PROJECT_BINARY_DIR}/joined/${target}/${group}.cpp)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  set_source_files_properties(${file} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
  foreach(property COMPILE_OPTIONS SKIP_PRECOMPILE_HEADERS)
    get_source_file_property(value ${first} ${property})
    if(value)
      set_source_files_properties(${file} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  set(joined ${file} PARENT_SCOPE)
endfunction()
