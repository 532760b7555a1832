// The CUDA kernels as ordinary functions: block after block, thread after thread. They do not communicate, so this
// is what they compute; the tests use it to prove them, arguments and all, where there is no GPU.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

namespace {

struct Index {
  unsigned x;
};
thread_local Index blockIdx, threadIdx, blockDim, gridDim;

inline float __uint_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline unsigned __float_as_uint(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

using std::min;

#define __device__
#define KERNEL void
#include "../src/backend/cuda/kernels.cu"

template <class... Arguments, std::size_t... I>
void run(void (*kernel)(Arguments...), unsigned grid, unsigned block, void** arguments, std::index_sequence<I...>) {
  gridDim.x = grid;
  blockDim.x = block;
  for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++) {
    for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++) {
      kernel(*static_cast<Arguments*>(arguments[I])...);
    }
  }
}

template <class... Arguments>
int launch(void (*kernel)(Arguments...), unsigned grid, unsigned block, void** arguments, int count) {
  if (count != static_cast<int>(sizeof...(Arguments))) return -1;
  run(kernel, grid, block, arguments, std::index_sequence_for<Arguments...>());
  return 0;
}

} // namespace

// Runs a kernel by name; `arguments` as cuLaunchKernel takes them. -1: no such kernel, or another number of arguments.
extern "C" int chuhe_host_launch(const char* name, unsigned grid, unsigned block, void** arguments, int count) {
#define RUN(kernel) \
  if (std::strcmp(name, #kernel) == 0) return launch(kernel, grid, block, arguments, count)
  RUN(multihot);
  RUN(sparse_forward);
  RUN(sparse_backward);
  RUN(sparse_reduce);
  RUN(activate);
  RUN(deactivate);
  RUN(adam_flat);
  RUN(adam_shared);
  RUN(adam_table);
  return -1;
}
