# Install, configure, build, run: each step must succeed, the program must print the version that was installed, and
# README's program what it computes. With `prefix` that is where something has installed it already.
if(NOT prefix)
  set(prefix ${work_dir}/prefix)
  file(REMOVE_RECURSE ${prefix})
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${build_dir} --config ${config} --prefix ${prefix}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endif()
file(REMOVE_RECURSE ${work_dir}/build)
set(output ${work_dir}/readme.cpp)
include(${CMAKE_CURRENT_LIST_DIR}/readme.cmake)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${project_dir} -B ${work_dir}/build -G ${generator}
                        -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${compiler}
                        -D CMAKE_BUILD_TYPE=${config} -D expected_version=${version} -D expected_prefix=${prefix}
                        -D readme_source=${work_dir}/readme.cpp
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${work_dir}/build --config ${config} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${work_dir}/build/consumer OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)

message("${output}")
if(NOT output MATCHES "^dissent ${version}: ")
  message(FATAL_ERROR "the consumer printed '${output}', not version ${version}")
endif()

execute_process(COMMAND ${work_dir}/build/readme OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "0.50 of at most 1.61 nats\n")
  message(FATAL_ERROR "README's program printed '${output}'")
endif()
