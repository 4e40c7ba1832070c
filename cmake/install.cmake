# `cmake --install` gives headers, library and the CMake package: find_package(dissent) -> dissent::dissent.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dissent)

install(TARGETS dissent EXPORT dissent_targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/dissent ${PROJECT_BINARY_DIR}/include/dissent
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.hpp)
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
