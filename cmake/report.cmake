# The scripts that draw the charts of `dissent report` in a browser: Vega, Vega-Lite and Vega-Embed. They come from npm
# and are built into the program. DISSENT_REPORT is
#   AUTO  if npm is there and can fetch them
#   ON    an error if not
#   OFF   no pages
#
# DISSENT_HAS_PAGES says whether they are there: ${PROJECT_BINARY_DIR}/web/{vega,vega-lite,vega-embed}.js. They are
# fetched while configuring, once for each version of the lock file. Without a network the build has no pages, but does
# not fail.
set(DISSENT_REPORT AUTO CACHE STRING "Pages of `dissent report`, which need npm to build: AUTO, ON or OFF")
set(report_folder ${PROJECT_BINARY_DIR}/web)
set(DISSENT_HAS_PAGES OFF)

function(fetch_report_packages problem)
  find_program(NPM npm)
  if(NOT NPM)
    set(${problem} "npm not found" PARENT_SCOPE)
    return()
  endif()
  set(dev --omit=dev)
  if(DISSENT_BUILD_TESTS AND DISSENT_STRUCTURE_TESTS)
    set(dev --include=dev)  # what tests the pages
  endif()
  file(SHA256 ${PROJECT_SOURCE_DIR}/web/package-lock.json lock)
  set(stamp ${report_folder}/fetched.txt)
  set(fetched "")
  if(EXISTS ${stamp})
    file(READ ${stamp} fetched)
  endif()
  if(fetched STREQUAL "${lock} --include=dev" OR fetched STREQUAL "${lock} ${dev}")
    return()
  endif()
  file(COPY ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
       DESTINATION ${report_folder})
  message(STATUS "Fetching what draws the pages of `dissent report` (npm ci)")
  execute_process(COMMAND ${NPM} ci ${dev} --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
                          --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=60000
                  WORKING_DIRECTORY ${report_folder} TIMEOUT 300
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
  if(failed)
    string(REGEX MATCH "[^\n]+" first "${said}")
    set(${problem} "npm cannot fetch the packages (${first})" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} "${lock} ${dev}")
endfunction()

# Other packages that a build of these contains.
set(bundled_vega d3-* delaunator internmap robust-predicates topojson-client)
set(bundled_vega-lite tslib)
set(bundled_vega-embed fast-json-patch json-stringify-pretty-compact semver vega-interpreter vega-schema-url-parser
    vega-themes vega-tooltip)

# The package's own minified build, without references to files that are not there, below its licence and those of what
# it contains: licences go wherever a page goes.
function(prepare_report_script package)
  set(modules ${report_folder}/node_modules)
  set(script_file ${modules}/${package}/build/${package}.min.js)
  set(to ${report_folder}/${package}.js)
  if(EXISTS ${to} AND NOT ${script_file} IS_NEWER_THAN ${to}
     AND NOT ${CMAKE_CURRENT_FUNCTION_LIST_FILE} IS_NEWER_THAN ${to})
    return()
  endif()
  set(licences "")
  foreach(part ${package} ${bundled_${package}})
    file(GLOB files ${modules}/${part}/LICENSE*)
    if(NOT files)
      message(FATAL_ERROR "${package}: ${part} has no licence")
    endif()
    foreach(file ${files})
      cmake_path(GET file PARENT_PATH folder)
      cmake_path(GET folder FILENAME name)
      file(READ ${file} licence)
      string(APPEND licences "${name}\n\n${licence}\n")
    endforeach()
  endforeach()
  file(READ ${script_file} script)
  string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" script "${script}")
  file(WRITE ${to} "/*! ${licences}*/\n${script}\n")
endfunction()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/package-lock.json)
if(DISSENT_REPORT AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  set(report_problem "")
  fetch_report_packages(report_problem)
  if(report_problem AND DISSENT_REPORT STREQUAL "AUTO")
    message(STATUS "${report_problem}: the pages of `dissent report` are switched off")
  elseif(report_problem)
    message(FATAL_ERROR "DISSENT_REPORT is ON, but ${report_problem}")
  else()
    foreach(package vega vega-lite vega-embed)
      prepare_report_script(${package})
    endforeach()
    set(DISSENT_HAS_PAGES ON)
  endif()
endif()
