// What tch does not reach of torch's streams: the current one for our own kernels, copies beside the computation,
// and events. No CUDA header is needed: all of it goes through torch's device-generic interface.
//
// Every function returns 0 (chuhe_event_query: 1 or 0) or, when torch threw, -1 with the text in
// chuhe_stream_error(). Tensors are tch's `C_tensor *`, that is `at::Tensor *`.

#include <ATen/DeviceAccelerator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <exception>
#include <string>

namespace {

thread_local std::string last_error;

template <class Work>
int guarded(Work work) {
  try {
    return work();
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an exception of an unknown kind";
  }
  return -1;
}

// The stream for copies to a device: one for each thread and device, from torch's pool.
c10::Stream side_stream(c10::Device device) {
  thread_local std::optional<c10::Stream> kept;
  if (!kept || kept->device() != device) {
    kept = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, false);
  }
  return *kept;
}

c10::Event* recorded(c10::Stream stream) {
  auto event = std::make_unique<c10::Event>(stream.device_type());
  event->record(stream);
  return event.release();
}

} // namespace

extern "C" {

const char* chuhe_stream_error() {
  return last_error.c_str();
}

// The native handle (cudaStream_t) of torch's current stream. It may be null: that is CUDA's default stream.
int chuhe_current_stream(int device, void** handle) {
  return guarded([&] {
    *handle = at::accelerator::getCurrentStream(static_cast<c10::DeviceIndex>(device)).native_handle();
    return 0;
  });
}

// A pinned tensor like `like`: bytes of this process that a device can read by itself.
int chuhe_pinned(long long bytes, at::Tensor** pinned) {
  return guarded([&] {
    const auto options = at::TensorOptions().dtype(at::kByte).pinned_memory(true);
    *pinned = new at::Tensor(at::empty({bytes}, options));
    return 0;
  });
}

// Copies pinned memory to a device on a stream beside the computation. Work given to the current stream after this
// call comes after the copy; `*done` tells when the memory at `from` is free again.
int chuhe_upload(const at::Tensor* from, int device, at::Tensor** to, c10::Event** done) {
  return guarded([&] {
    const auto index = static_cast<c10::DeviceIndex>(device);
    const auto current = at::accelerator::getCurrentStream(index);
    const auto side = side_stream(current.device());
    at::Tensor copy;
    {
      c10::StreamGuard guard(side);
      copy = from->to(current.device(), /*non_blocking=*/true, /*copy=*/true);
    }
    std::unique_ptr<c10::Event> event(recorded(side));
    event->block(current);
    // The memory was allocated for the side stream; the allocator must know that the current one reads it.
    copy.record_stream(current);
    *to = new at::Tensor(std::move(copy));
    *done = event.release();
    return 0;
  });
}

// Copies from a device into pinned memory, in the order of the current stream; `*done` tells when it is there.
int chuhe_download(const at::Tensor* from, at::Tensor* to, c10::Event** done) {
  return guarded([&] {
    to->copy_(*from, /*non_blocking=*/true);
    *done = recorded(at::accelerator::getCurrentStream(from->device().index()));
    return 0;
  });
}

int chuhe_event_query(const c10::Event* event) {
  return guarded([&] { return event->query() ? 1 : 0; });
}

int chuhe_event_wait(const c10::Event* event) {
  return guarded([&] {
    event->synchronize();
    return 0;
  });
}

void chuhe_event_free(c10::Event* event) {
  guarded([&] {
    delete event;
    return 0;
  });
}

} // extern "C"
