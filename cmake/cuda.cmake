# Code for graphics cards (src/dissent/device). DISSENT_CUDA is
#   AUTO  if there is a CUDA compiler, nvcc
#   ON    an error if not
#   OFF   no code for cards
#
# DISSENT_HAS_CUDA says whether it is built. Without it, the library differs only in its answer when asked for a card.
# With it, the CUDA runtime is linked statically, and finds the driver when asked for a card: the program runs on
# machines without either.
set(DISSENT_CUDA AUTO CACHE STRING "Code for graphics cards, which needs nvcc to build: AUTO, ON or OFF")
option(DISSENT_CUDA_LINES "Keep source lines in code for cards, for profilers; this doubles its size" OFF)
option(DISSENT_CUDA_QUICK "Compile slow code for cards, in a fifth of the time: to test the rest without a card" OFF)
set(DISSENT_HAS_CUDA OFF)
set(device_folder ${PROJECT_SOURCE_DIR}/src/dissent/device)
file(GLOB device_sources CONFIGURE_DEPENDS ${device_folder}/*.cpp ${device_folder}/*.cu)

if(DISSENT_CUDA)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(DISSENT_NVCC nvcc PATHS /usr/local/cuda/bin)
    if(DISSENT_NVCC)
      set(ENV{CUDACXX} ${DISSENT_NVCC})  # not CMAKE_CUDA_COMPILER, which would not be tried out
    endif()
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)  # H100 and H200; code for later cards is made from it when they are opened
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_RUNTIME_LIBRARY None)  # it is in the library, see below
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it for the latest nvcc
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    endif()
    # Folders that the host compiler already knows must not be named again.
    list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    find_package(CUDAToolkit REQUIRED)
    set(DISSENT_HAS_CUDA ON)
  elseif(DISSENT_CUDA STREQUAL "AUTO")
    message(STATUS "nvcc not found: `device` cuda is switched off")
  else()
    message(FATAL_ERROR "DISSENT_CUDA is ON, but there is no nvcc, or it cannot compile")
  endif()
endif()

if(DISSENT_HAS_CUDA)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}: `device` cuda, for cards of architecture ${CMAKE_CUDA_ARCHITECTURES}")
  list(FILTER device_sources EXCLUDE REGEX "/no_cuda\\.cpp$")
  add_library(dissent_device OBJECT ${device_sources})
  set_target_properties(dissent_device PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(dissent_device PRIVATE cxx_std_20)
  # nvcc accepts fmt's headers only as they were before C++20.
  set(cuda_options --expt-relaxed-constexpr --expt-extended-lambda -DFMT_USE_CONSTEXPR=1)
  if(DISSENT_CUDA_LINES)
    list(APPEND cuda_options -lineinfo)
  endif()
  if(DISSENT_CUDA_QUICK AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13.0)
    list(APPEND cuda_options --Ofast-compile=max)
  endif()
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
    list(APPEND cuda_options --compress-mode=size)
  endif()
  target_compile_options(dissent_device PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options}>")
  # Training computes with rounded sums anyway: numbers below 1e-38 are zero, quotients and roots err in the last bit.
  file(GLOB training_sources CONFIGURE_DEPENDS ${device_folder}/train_*.cu)
  set_source_files_properties(${training_sources} PROPERTIES COMPILE_OPTIONS "-ftz=true;-prec-div=false;-prec-sqrt=false")
  set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  list(SORT architectures COMPARE NATURAL)
  list(GET architectures 0 oldest)
  string(REGEX MATCH "^[0-9]+" oldest "${oldest}")
  if(NOT oldest)
    set(oldest 0)  # "native", "all"
  endif()
  target_compile_definitions(dissent_device PRIVATE DISSENT_OLDEST_ARCHITECTURE=${oldest})
  target_include_directories(dissent_device PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/include)
  target_include_directories(dissent_device SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(dissent_device PRIVATE fmt::fmt Eigen3::Eigen Random123::Random123)
  # The runtime becomes part of the library, so users of the installed one need no CUDA of their own. Its names are
  # hidden: in an interpreter it does not clash with that of other modules.
  set(cudart ${PROJECT_BINARY_DIR}/cudart.o)
  add_custom_command(OUTPUT ${cudart} DEPENDS ${CUDA_cudart_static_LIBRARY} VERBATIM
                     COMMAND ${CMAKE_LINKER} -r -o ${cudart} --whole-archive ${CUDA_cudart_static_LIBRARY})
  set_source_files_properties(${cudart} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(dissent PRIVATE $<TARGET_OBJECTS:dissent_device> ${cudart})
  target_link_libraries(dissent PRIVATE ${CMAKE_DL_LIBS} rt)
else()
  target_sources(dissent PRIVATE ${device_folder}/no_cuda.cpp)
endif()
