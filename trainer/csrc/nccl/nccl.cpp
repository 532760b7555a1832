// ProcessGroupNCCL as a shared object of its own, loaded by trainer/src/ranks after libtorch_cuda: the program itself
// stays free of CUDA and runs where there is none. scripts/build-nccl-shim.sh compiles it.

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/version.h>

#include <chrono>
#include <cstdio>
#include <string>

extern "C" {

// The torch that this was compiled for: C++ has no stable binary interface, so it must be the one in use.
const char* chuhe_nccl_torch_version() { return TORCH_VERSION; }

// Opens the group on the GPU `device`, over `store` (a c10::intrusive_ptr<c10d::Store>*). On success `*backend` is a
// c10d::Backend* that the caller owns a reference to; else -1, with the reason in `error` of `room` bytes.
int chuhe_nccl_open(void* store, int rank, int world, int device, int64_t timeout_ms, void** backend, char* error,
                    size_t room) {
  try {
    // The device must be current before NCCL makes its communicator.
    c10::cuda::set_device(static_cast<c10::DeviceIndex>(device));
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = std::chrono::milliseconds(timeout_ms);
    auto& keys = *static_cast<c10::intrusive_ptr<c10d::PrefixStore>*>(store);
    auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(keys, rank, world, options);
    *backend = static_cast<c10d::Backend*>(group.release());
    return 0;
  } catch (const std::exception& failure) {
    std::snprintf(error, room, "%s", failure.what());
  } catch (...) {
    std::snprintf(error, room, "an unknown C++ exception");
  }
  return -1;
}

}  // extern "C"
