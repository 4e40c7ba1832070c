# embed_data(OUTPUT file.cpp FUNCTION name HEADER h.hpp FILES a.xml b.txt ...): writes a C++ source that defines
#   std::string_view dissent::<FUNCTION>(std::string_view stem)
# which the header declares. It returns the text of the file with that stem (its name without folder and ending), or an
# empty view. The text is inside the library, so a build tree, an installation and a consumer of the library all find
# it. A changed file triggers a new configure.
function(embed_data)
  cmake_parse_arguments(ARG "" "OUTPUT;FUNCTION;HEADER" "FILES" ${ARGN})
  set(branches "")
  foreach(file IN LISTS ARG_FILES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND branches "  if (stem == \"${stem}\") {\n    return R\"embedded(${text})embedded\";\n  }\n")
  endforeach()
  file(CONFIGURE OUTPUT ${ARG_OUTPUT} @ONLY CONTENT
    "#include \"@ARG_HEADER@\"\n\nnamespace dissent {\n\nstd::string_view @ARG_FUNCTION@(std::string_view stem) {\n@branches@  return {};\n}\n\n}  // namespace dissent\n")
endfunction()

# Robot models and trained policies, and the numbers of the paper.
file(GLOB model_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/models/*.xml)
file(GLOB policy_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/policies/*.txt)
file(GLOB paper_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/paper/*.csv)
embed_data(OUTPUT ${PROJECT_BINARY_DIR}/embedded_models.cpp FUNCTION embedded_model
           HEADER dissent/simulator/named_data.hpp FILES ${model_files})
embed_data(OUTPUT ${PROJECT_BINARY_DIR}/embedded_policies.cpp FUNCTION embedded_policy
           HEADER dissent/simulator/named_data.hpp FILES ${policy_files})
embed_data(OUTPUT ${PROJECT_BINARY_DIR}/embedded_paper.cpp FUNCTION embedded_paper_table
           HEADER dissent/study/paper_data.hpp FILES ${paper_files})
target_sources(dissent PRIVATE ${PROJECT_BINARY_DIR}/embedded_models.cpp ${PROJECT_BINARY_DIR}/embedded_policies.cpp
                               ${PROJECT_BINARY_DIR}/embedded_paper.cpp)
