// torch.distributed for Rust: a C interface over c10d's TCPStore and process groups, as much of it as trainer/src/ranks
// calls (ranks/c10d.rs declares it once more). Every function returns 0 when it has done its work and a negative number
// for a C++ exception, whose text chuhe_c10d_error() then gives; other values are said beside the function.

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace {

using Milliseconds = std::chrono::milliseconds;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;

thread_local std::string last_error;
// What the last chuhe_c10d_store_get of this thread found.
thread_local std::vector<uint8_t> last_value;

template <class F>
int guard(F body) {
  try {
    return body();
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an unknown C++ exception";
  }
  return -1;
}

// True when the work has ended, false when it needs longer than `slice`; throws what the work failed with.
bool ended(c10d::Work& work, Milliseconds slice) {
  try {
    work.wait(slice);
    return true;
  } catch (...) {
    if (!work.isCompleted()) return false;  // that was the end of the slice
    if (auto error = work.exception()) std::rethrow_exception(error);
    return true;  // it ended between the two looks
  }
}

}  // namespace

struct ChuheStore {
  c10::intrusive_ptr<c10d::Store> store;
};

struct ChuheGroup {
  c10::intrusive_ptr<c10d::Backend> gloo;
  c10::intrusive_ptr<c10d::Backend> nccl;  // null without GPUs
  // The operation in progress. Gloo works on copies that are its own: an operation that is given up when a peer has died
  // goes on in Gloo's threads, and must not write to memory that is long somebody else's.
  at::Tensor floats;
  at::Tensor doubles;
  std::vector<WorkPtr> works;
  bool staged = false;
};

namespace {

enum Operation { Sum = 0, FromFirst = 1 };

// What one operation works on: tensors in place of their owner, and numbers.
struct Values {
  at::Tensor* const* tensors;
  size_t count;
  double* numbers;
  size_t number_count;

  int64_t length(at::ScalarType type) const {
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
      if (tensors[i]->scalar_type() == type) sum += tensors[i]->numel();
    }
    return sum;
  }

  void check() const {
    for (size_t i = 0; i < count; i++) {
      const auto type = tensors[i]->scalar_type();
      TORCH_CHECK(type == at::kFloat || type == at::kDouble, "tensor ", i, " is neither f32 nor f64");
      TORCH_CHECK(tensors[i]->is_contiguous(), "tensor ", i, " is not contiguous");
    }
  }

  // Copies the tensors of a type from or to the front of one flat buffer.
  void stage(const at::Tensor& flat, bool back) const {
    int64_t place = 0;
    for (size_t i = 0; i < count; i++) {
      if (tensors[i]->scalar_type() != flat.scalar_type()) continue;
      const int64_t size = tensors[i]->numel();
      at::Tensor there = flat.narrow(0, place, size), here = tensors[i]->view({size});
      if (back) {
        here.copy_(there);
      } else {
        there.copy_(here);
      }
      place += size;
    }
  }
};

// A buffer that lives on from step to step.
at::Tensor& sized(at::Tensor& buffer, int64_t length, at::ScalarType type) {
  if (!buffer.defined() || buffer.numel() != length) buffer = at::empty({length}, type);
  return buffer;
}

WorkPtr start_one(c10d::Backend& backend, at::Tensor tensor, Operation operation) {
  std::vector<at::Tensor> list{std::move(tensor)};
  if (operation == Sum) return backend.allreduce(list, c10d::AllreduceOptions());
  return backend.broadcast(list, c10d::BroadcastOptions());
}

// In place on torch's stream; grouped, so that NCCL makes one launch of them. To wait without a time means that the
// stream waits, and not this thread.
void run_on_gpu(c10d::Backend& nccl, const Values& values, Operation operation) {
  nccl.startCoalescing();
  for (size_t i = 0; i < values.count; i++) start_one(nccl, *values.tensors[i], operation);
  if (auto work = nccl.endCoalescing()) work->wait();
}

void start(ChuheGroup& group, const Values& values, Operation operation) {
  values.check();
  group.works.clear();
  const bool on_gpu = group.nccl && values.count > 0 && values.tensors[0]->is_cuda();
  group.staged = !on_gpu;
  if (on_gpu) run_on_gpu(*group.nccl, values, operation);
  const int64_t floats = on_gpu ? 0 : values.length(at::kFloat);
  if (floats > 0) {
    values.stage(sized(group.floats, floats, at::kFloat), false);
    group.works.push_back(start_one(*group.gloo, group.floats, operation));
  }
  const int64_t doubles = on_gpu ? 0 : values.length(at::kDouble);
  const int64_t numbers = static_cast<int64_t>(values.number_count);
  if (doubles + numbers > 0) {
    at::Tensor& buffer = sized(group.doubles, doubles + numbers, at::kDouble);
    if (doubles > 0) values.stage(buffer, false);
    std::copy_n(values.numbers, values.number_count, buffer.data_ptr<double>() + doubles);
    group.works.push_back(start_one(*group.gloo, buffer, operation));
  }
}

void take_back(ChuheGroup& group, const Values& values) {
  if (group.staged && values.length(at::kFloat) > 0) values.stage(group.floats, true);
  if (group.staged && values.length(at::kDouble) > 0) values.stage(group.doubles, true);
  if (values.number_count > 0) {
    const double* end = group.doubles.data_ptr<double>() + group.doubles.numel();
    std::copy_n(end - values.number_count, values.number_count, values.numbers);
  }
}

}  // namespace

extern "C" {

const char* chuhe_c10d_error() { return last_error.c_str(); }

// Connects to the store at host:port, and with `serve` offers it there first. Keys are kept under `prefix`.
int chuhe_c10d_store_open(const char* host, uint16_t port, int serve, const char* prefix, int64_t timeout_ms,
                          ChuheStore** out) {
  return guard([&] {
    c10d::TCPStoreOptions options;
    options.port = port;
    options.isServer = serve != 0;
    options.waitWorkers = false;
    options.timeout = Milliseconds(timeout_ms);
    auto tcp = c10::make_intrusive<c10d::TCPStore>(std::string(host), options);
    *out = new ChuheStore{c10::make_intrusive<c10d::PrefixStore>(std::string(prefix), tcp)};
    return 0;
  });
}

int chuhe_c10d_store_set(ChuheStore* store, const char* key, const uint8_t* bytes, size_t size) {
  return guard([&] {
    store->store->set(std::string(key), std::vector<uint8_t>(bytes, bytes + size));
    return 0;
  });
}

// The value of a key, until the next call of this thread; 1 when there is none. Never waits for one.
int chuhe_c10d_store_get(ChuheStore* store, const char* key, const uint8_t** bytes, size_t* size) {
  return guard([&] {
    if (!store->store->check({std::string(key)})) return 1;
    last_value = store->store->get(std::string(key));
    *bytes = last_value.data();
    *size = last_value.size();
    return 0;
  });
}

// Sets a key that has no value yet; the first of several callers wins.
int chuhe_c10d_store_claim(ChuheStore* store, const char* key, const uint8_t* bytes, size_t size) {
  return guard([&] {
    store->store->compareSet(std::string(key), std::vector<uint8_t>(), std::vector<uint8_t>(bytes, bytes + size));
    return 0;
  });
}

int chuhe_c10d_store_add(ChuheStore* store, const char* key, int64_t amount, int64_t* out) {
  return guard([&] {
    *out = store->store->add(std::string(key), amount);
    return 0;
  });
}

void chuhe_c10d_store_free(ChuheStore* store) { delete store; }

// Connects all ranks with each other by Gloo, within `join_ms`. Later operations have no time limit of their own: who
// calls chuhe_c10d_wait decides how long to go on.
int chuhe_c10d_group_open(ChuheStore* store, int rank, int world, int64_t join_ms, ChuheGroup** out) {
  return guard([&] {
    auto options = c10d::ProcessGroupGloo::Options::create_default(Milliseconds(join_ms));
    c10::intrusive_ptr<c10d::Backend> gloo =
        c10::make_intrusive<c10d::ProcessGroupGloo>(store->store, rank, world, options);
    gloo->setTimeout(std::chrono::hours(24));
    auto group = std::make_unique<ChuheGroup>();
    group->gloo = std::move(gloo);
    *out = group.release();
    return 0;
  });
}

// Gives a group the backend for tensors on GPUs: chuhe_nccl_open, of the shared object made from csrc/nccl.
using NcclOpen = int (*)(void* store, int rank, int world, int device, int64_t timeout_ms, void** backend,
                         char* error, size_t room);
int chuhe_c10d_group_add_nccl(ChuheGroup* group, ChuheStore* store, NcclOpen open, int rank, int world, int device,
                              int64_t timeout_ms) {
  return guard([&] {
    void* backend = nullptr;
    std::vector<char> error(4096, 0);
    auto keys = c10::make_intrusive<c10d::PrefixStore>("nccl", store->store);
    const int result = open(&keys, rank, world, device, timeout_ms, &backend, error.data(), error.size());
    TORCH_CHECK(result == 0, error.data());
    group->nccl = c10::intrusive_ptr<c10d::Backend>::reclaim(static_cast<c10d::Backend*>(backend));
    return 0;
  });
}

// Starts one operation over all ranks on tensors (contiguous, f32 or f64) and numbers together: 0 the sum, 1 what the
// first rank has. One at a time; chuhe_c10d_wait with the same arguments ends it.
int chuhe_c10d_start(ChuheGroup* group, int operation, at::Tensor* const* tensors, size_t count, double* numbers,
                     size_t number_count) {
  return guard([&] {
    at::NoGradGuard no_grad;
    start(*group, Values{tensors, count, numbers, number_count}, static_cast<Operation>(operation));
    return 0;
  });
}

// Waits at most `slice_ms` for the operation: 0 it is done and the results are in place, 1 it needs longer. On GPUs it is
// done when it is queued on torch's stream, as is usual there.
int chuhe_c10d_wait(ChuheGroup* group, int64_t slice_ms, at::Tensor* const* tensors, size_t count, double* numbers,
                    size_t number_count) {
  return guard([&] {
    at::NoGradGuard no_grad;
    while (!group->works.empty()) {
      if (!ended(*group->works.back(), Milliseconds(slice_ms))) return 1;
      group->works.pop_back();
    }
    take_back(*group, Values{tensors, count, numbers, number_count});
    return 0;
  });
}

void chuhe_c10d_group_free(ChuheGroup* group) { delete group; }

}  // extern "C"
