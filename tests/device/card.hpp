// The card that tests run on. Those that need one are skipped where there is none, with what the library says of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "dissent/base/error.hpp"
#include "dissent/device/device.hpp"

namespace dissent::test {

class OnCard : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    try {
      device_ = open_device("cuda");
    } catch (const Error& error) {
      reason = error.what();
    }
    if (!device_) {
      GTEST_SKIP() << reason;
    }
  }

  std::shared_ptr<Device> device_;
};

}  // namespace dissent::test
