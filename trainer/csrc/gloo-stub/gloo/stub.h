// Just enough of Gloo's declarations for torch/csrc/distributed/c10d/ProcessGroupGloo.hpp: PyPI's torch ships that
// header and the compiled Gloo, but not Gloo's own headers. All of these types are used behind pointers alone, and their
// vtables lie in libtorch_cpu. Written for torch 2.11; the tests of two ranks notice when it no longer fits.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gloo {
class Context {
 public:
  virtual ~Context();
  void setTimeout(std::chrono::milliseconds);
};
namespace rendezvous {
class Store {
 public:
  virtual ~Store();
  virtual void set(const std::string&, const std::vector<char>&) = 0;
  virtual std::vector<char> get(const std::string&) = 0;
  virtual void wait(const std::vector<std::string>&) = 0;
  virtual void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) = 0;
};
}  // namespace rendezvous
namespace transport {
class Device;
class UnboundBuffer;
}  // namespace transport
}  // namespace gloo
