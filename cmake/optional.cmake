# Optional parts: what is missing is switched off, and says so when it is asked for.
# They are linked by path, so that a user of the static library needs no package of theirs.

# Debian's mujocoConfig.cmake names an include folder that it does not ship.
find_library(MUJOCO_LIBRARY mujoco)
find_path(MUJOCO_INCLUDE_DIR mujoco/mujoco.h)
set(mujoco_version "")
if(MUJOCO_LIBRARY AND MUJOCO_INCLUDE_DIR)
  file(STRINGS ${MUJOCO_INCLUDE_DIR}/mujoco/mujoco.h mujoco_version REGEX "^#define mjVERSION_HEADER +[0-9]+")
  string(REGEX REPLACE "[^0-9]+" "" mujoco_version "${mujoco_version}")
endif()
# Data, models and trained policies are those of 2.2.2: another version would give other rows under the same name.
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

# Studies keep their results in a database, by SOCI.
find_library(SOCI_LIBRARY soci_core)
find_library(SOCI_SQLITE_LIBRARY soci_sqlite3)
find_library(SOCI_POSTGRESQL_LIBRARY soci_postgresql)
find_path(SOCI_INCLUDE_DIR soci/soci.h)
find_path(TOML_INCLUDE_DIR toml++/toml.h)
