# `cmake --install` installs headers, library and the CMake package: find_package(dissent) -> dissent::dissent.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dissent)

# The installed headers are dissent/dissent.hpp and what it includes, however far down: no list to maintain.
set(to_visit dissent/dissent.hpp)
set(public_headers)
while(to_visit)
  list(POP_FRONT to_visit header)
  list(APPEND public_headers ${header})
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/${header})
    continue()  # made by the build: dissent/base/version.hpp
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} includes REGEX "^#include \"dissent/")
  foreach(include ${includes})
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" include ${include})
    if(NOT include IN_LIST public_headers AND NOT include IN_LIST to_visit)
      list(APPEND to_visit ${include})
    endif()
  endforeach()
endwhile()
foreach(header ${public_headers})
  cmake_path(GET header PARENT_PATH folder)
  set(from ${PROJECT_SOURCE_DIR}/src)
  if(NOT EXISTS ${from}/${header})
    set(from ${PROJECT_BINARY_DIR}/include)
  endif()
  install(FILES ${from}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

install(TARGETS dissent EXPORT dissent_targets)
install(EXPORT dissent_targets NAMESPACE dissent:: FILE dissentTargets.cmake DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/dissentConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/cmake/dissentConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/dissentConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/dissentConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/dissentConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindRandom123.cmake
        DESTINATION ${package_dir})
