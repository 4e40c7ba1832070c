# Optional parts: a missing one is switched off, and says so when asked for.
# They are linked by path, so users of the static library need no packages for them.

# Debian's mujocoConfig.cmake names an include folder that it does not ship.
find_library(MUJOCO_LIBRARY mujoco)
find_path(MUJOCO_INCLUDE_DIR mujoco/mujoco.h)
set(mujoco_version "")
if(MUJOCO_LIBRARY AND MUJOCO_INCLUDE_DIR)
  file(STRINGS ${MUJOCO_INCLUDE_DIR}/mujoco/mujoco.h mujoco_version REGEX "^#define mjVERSION_HEADER +[0-9]+")
  string(REGEX REPLACE "[^0-9]+" "" mujoco_version "${mujoco_version}")
endif()
# Data, models and trained policies are from 2.2.2: another version would give other rows under the same name.
if(mujoco_version STREQUAL "222")
  target_link_libraries(dissent PRIVATE ${MUJOCO_LIBRARY})
  target_include_directories(dissent SYSTEM PRIVATE ${MUJOCO_INCLUDE_DIR})
  target_compile_definitions(dissent PRIVATE DISSENT_HAS_MUJOCO=1)
elseif(mujoco_version)
  message(STATUS "MuJoCo in ${MUJOCO_INCLUDE_DIR} has version number ${mujoco_version}, 222 (that is 2.2.2) is needed: "
                 "hopper, ant and humanoid are switched off")
else()
  message(STATUS "MuJoCo not found (libmujoco-dev): hopper, ant and humanoid are switched off")
endif()

find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5)
find_path(HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
if(HDF5_LIBRARY AND HDF5_INCLUDE_DIR)
  target_link_libraries(dissent PRIVATE ${HDF5_LIBRARY})
  target_include_directories(dissent SYSTEM PRIVATE ${HDF5_INCLUDE_DIR})
  target_compile_definitions(dissent PRIVATE DISSENT_HAS_HDF5=1)
else()
  message(STATUS "HDF5 not found (libhdf5-dev): .h5 files are switched off")
endif()

# Studies keep their results in a database, through SOCI, and read grids with toml++. DISSENT_HAS_STUDIES says whether
# both are there; without them, the study folder is left out, and `dissent study` says what is missing.
find_library(SOCI_LIBRARY soci_core)
find_library(SOCI_SQLITE_LIBRARY soci_sqlite3)
find_library(SOCI_POSTGRESQL_LIBRARY soci_postgresql)
find_path(SOCI_INCLUDE_DIR soci/soci.h)
find_path(SQLITE_INCLUDE_DIR sqlite3.h)
find_library(POSTGRESQL_LIBRARY pq)
find_path(POSTGRESQL_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql)
find_path(TOML_INCLUDE_DIR toml++/toml.h)
set(DISSENT_STUDY_PACKAGES "")  # the missing ones, by their Debian names
if(NOT SOCI_LIBRARY OR NOT SOCI_SQLITE_LIBRARY OR NOT SOCI_POSTGRESQL_LIBRARY OR NOT SOCI_INCLUDE_DIR)
  list(APPEND DISSENT_STUDY_PACKAGES libsoci-dev)
endif()
if(NOT SQLITE_INCLUDE_DIR)
  list(APPEND DISSENT_STUDY_PACKAGES libsqlite3-dev)
endif()
if(NOT POSTGRESQL_LIBRARY OR NOT POSTGRESQL_INCLUDE_DIR)
  list(APPEND DISSENT_STUDY_PACKAGES libpq-dev)
endif()
if(NOT TOML_INCLUDE_DIR)
  list(APPEND DISSENT_STUDY_PACKAGES libtomlplusplus-dev)
endif()
string(REPLACE ";" ", " DISSENT_STUDY_PACKAGES "${DISSENT_STUDY_PACKAGES}")
if(DISSENT_STUDY_PACKAGES)
  set(DISSENT_HAS_STUDIES OFF)
  list(FILTER dissent_sources EXCLUDE REGEX "/src/dissent/(study/|report/study_)")
  set_target_properties(dissent PROPERTIES SOURCES "${dissent_sources}")
  message(STATUS "${DISSENT_STUDY_PACKAGES} not found: `dissent study` is switched off")
else()
  set(DISSENT_HAS_STUDIES ON)
  target_link_libraries(dissent PRIVATE ${SOCI_SQLITE_LIBRARY} ${SOCI_POSTGRESQL_LIBRARY} ${SOCI_LIBRARY}
                                        ${POSTGRESQL_LIBRARY})
  target_include_directories(dissent SYSTEM PRIVATE ${SOCI_INCLUDE_DIR} ${SQLITE_INCLUDE_DIR} ${TOML_INCLUDE_DIR})
  # For the one source that includes it.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/dissent/study/database.cpp PROPERTIES
                              INCLUDE_DIRECTORIES ${POSTGRESQL_INCLUDE_DIR})
endif()
