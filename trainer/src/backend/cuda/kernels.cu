// The kernels of the CUDA backend. Compiled at run time by NVRTC, and by the C++ compiler for the tests on a CPU
// (csrc/kernels_host.cpp); so no headers, no shared memory, no communication between threads: every thread writes
// places of its own, all sums have one order, and nothing is atomic. The results are the same every time.
//
// A row is one perspective of a position: row 2 i is the side to move of position i, row 2 i + 1 the other side.
// Rows lie in order of their bucket; `place[r]` says where row r lies. Matrices are row-major. 16-bit floats are
// bfloat16. `columns` is what the transformer computes for a row:
//
//     0 .. l1                    sums of the feature transformer, without bias
//     l1 .. l1 + psqt            PSQT sums, a column for each stack: upper halves of the 16-bit split
//     l1 + psqt .. l1 + 2 psqt   the lower halves
//     up to columns              zeros, so that rows are whole vectors of 8

#ifndef KERNEL
#define KERNEL extern "C" __global__ void
#endif

typedef unsigned short half16;

#define ACTIVE 32 // places for features in a row of indices; -1 where there is none

struct alignas(16) Eight {
    unsigned pairs[4];
};

__device__ inline float widen(half16 value) { return __uint_as_float((unsigned)value << 16); }

// To the nearest bfloat16, ties to even, as torch does it.
__device__ inline half16 narrow(float value) {
    unsigned bits = __float_as_uint(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
    return (half16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// A NaN stays a NaN, so that the loss shows it.
__device__ inline float clipped(float x, float clip) {
    x = x > clip ? clip : x;
    return x < 0.0f ? 0.0f : x;
}

__device__ inline void add_eight(float *sum, const half16 *row, int column) {
    Eight eight = *(const Eight *)(row + column);
    for (int k = 0; k < 4; k++) {
        sum[2 * k] += widen((half16)(eight.pairs[k] & 0xffffu));
        sum[2 * k + 1] += widen((half16)(eight.pairs[k] >> 16));
    }
}

// ---- the inputs of a bucket's matrix product ----

// x[row][slot] = 1 where the feature of that slot is active, else 0; `width` is a multiple of 8.
// One block a row, one thread for 8 columns.
KERNEL multihot(const short *__restrict__ indices, half16 *__restrict__ x, int slots, int width) {
    int column = threadIdx.x * 8;
    if (column >= width) return;
    long long row = blockIdx.x;
    const short *active = indices + row * ACTIVE;
    int base = active[0] < 0 ? 0 : active[0] / slots * slots;
    Eight eight = {{0, 0, 0, 0}};
    for (int i = 0; i < ACTIVE && active[i] >= 0; i++) {
        int place = active[i] - base - column;
        if (place >= 0 && place < 8) eight.pairs[place >> 1] |= 0x3f80u << (16 * (place & 1));
    }
    *(Eight *)(x + row * width + column) = eight;
}

// ---- sparse sums of rows: forward ----

// sums[row] = the sum of the weights of its features. One block a row, one thread for 8 columns.
KERNEL sparse_forward(const short *__restrict__ indices, const half16 *__restrict__ weights,
                                          float *__restrict__ sums, int columns) {
    int column = threadIdx.x * 8;
    if (column >= columns) return;
    long long row = blockIdx.x;
    const short *active = indices + row * ACTIVE;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < ACTIVE && active[i] >= 0; i++) add_eight(sum, weights + (long long)active[i] * columns, column);
    for (int k = 0; k < 8; k++) sums[row * columns + column + k] = sum[k];
}

// ---- sparse sums by feature: backward ----
//
// `order` lists the places of all indices sorted by feature, stably; feature f has order[offsets[f] .. offsets[f + 1]],
// a place / ACTIVE is a row. A feature is cut into segments of `segment` rows, so that a king that stands in every row
// is not the work of one block; feature f has the segments segments[f] .. segments[f + 1].

__device__ inline int feature_of(const int *segments, int features, int segment) {
    int low = 0, high = features; // segments[low] <= segment < segments[high]
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (segments[middle] <= segment) low = middle; else high = middle;
    }
    return low;
}

// The sum of one segment: into the gradient where it is the feature's only one, else into `partial`. One block a
// segment, one thread for 8 columns; blocks beyond the last segment have nothing to do.
KERNEL sparse_backward(const long long *__restrict__ order, const int *__restrict__ offsets,
                                           const int *__restrict__ segments, const half16 *__restrict__ g,
                                           float *__restrict__ gradient, float *__restrict__ partial, int features,
                                           int columns, int segment) {
    int column = threadIdx.x * 8;
    int block = blockIdx.x;
    if (column >= columns || block >= segments[features]) return;
    int feature = feature_of(segments, features, block);
    int number = block - segments[feature];
    int start = offsets[feature] + number * segment;
    int end = min(start + segment, offsets[feature + 1]);
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = start; i < end; i++) add_eight(sum, g + order[i] / ACTIVE * columns, column);
    bool only = segments[feature + 1] - segments[feature] == 1;
    float *out = only ? gradient + (long long)feature * columns : partial + (long long)block * columns;
    for (int k = 0; k < 8; k++) out[column + k] = sum[k];
}

// Adds up the segments of the features that have none or several. One block a feature.
KERNEL sparse_reduce(const int *__restrict__ segments, const float *__restrict__ partial,
                                         float *__restrict__ gradient, int columns) {
    long long feature = blockIdx.x;
    int first = segments[feature], end = segments[feature + 1];
    if (end - first == 1) return;
    for (int column = threadIdx.x; column < columns; column += blockDim.x) {
        float sum = 0;
        for (int s = first; s < end; s++) sum += partial[(long long)s * columns + column];
        gradient[feature * columns + column] = sum;
    }
}

// ---- between the transformer and the dense layers ----

// The inputs of the first dense layer, [positions][2 * side], side = l1, or l1 / 2 with pairwise products; and the
// PSQT value of each position. One block a position.
KERNEL activate(const float *__restrict__ sums, const float *__restrict__ bias,
                                    const int *__restrict__ place, const int *__restrict__ stacks,
                                    half16 *__restrict__ inputs, float *__restrict__ values, int l1, int columns,
                                    int psqt, int pairwise, float clip) {
    long long position = blockIdx.x;
    int side = pairwise ? l1 / 2 : l1;
    for (int j = threadIdx.x; j < 2 * side; j += blockDim.x) {
        int half = j / side, c = j % side;
        const float *row = sums + (long long)place[2 * position + half] * columns;
        float x = clipped(row[c] + bias[c], clip);
        if (pairwise) x *= clipped(row[c + side] + bias[c + side], clip);
        inputs[position * 2 * side + j] = narrow(x);
    }
    if (threadIdx.x == 0) {
        const float *own = sums + (long long)place[2 * position] * columns + l1 + stacks[position];
        const float *other = sums + (long long)place[2 * position + 1] * columns + l1 + stacks[position];
        values[position] = psqt ? (own[0] + own[psqt]) - (other[0] + other[psqt]) : 0.0f;
    }
}

// The way back: g[place] from the gradients of the inputs and of the values. One block a position.
KERNEL deactivate(const float *__restrict__ sums, const float *__restrict__ bias,
                                      const int *__restrict__ place, const int *__restrict__ stacks,
                                      const float *__restrict__ input_gradient,
                                      const float *__restrict__ value_gradient, half16 *__restrict__ g, int l1,
                                      int columns, int psqt, int pairwise, float clip) {
    long long position = blockIdx.x;
    int side = pairwise ? l1 / 2 : l1;
    for (int j = threadIdx.x; j < 2 * side; j += blockDim.x) {
        int half = j / side, c = j % side;
        long long start = (long long)place[2 * position + half] * columns;
        const float *row = sums + start;
        float d = input_gradient[position * 2 * side + j];
        float x = clipped(row[c] + bias[c], clip);
        bool inside = x > 0.0f && x < clip;
        if (pairwise) {
            float y = clipped(row[c + side] + bias[c + side], clip);
            g[start + c + side] = narrow(y > 0.0f && y < clip ? d * x : 0.0f);
            d *= y;
        }
        g[start + c] = narrow(inside ? d : 0.0f);
    }
    for (int c = l1 + threadIdx.x; c < columns; c += blockDim.x) {
        int column = (c - l1) % (psqt ? psqt : 1), low = psqt ? (c - l1) / psqt : 2;
        bool chosen = low < 2 && column == stacks[position];
        float d = chosen ? value_gradient[position] : 0.0f;
        float part = low == 1 ? d - widen(narrow(d)) : d;
        g[(long long)place[2 * position] * columns + c] = narrow(part);
        g[(long long)place[2 * position + 1] * columns + c] = narrow(-part);
    }
}

// ---- the optimiser ----
//
// The same operations in the same order as the CPU's kernels, without fused multiply-add: the same bits. `ok` is 0 once
// a loss was not finite, and then nothing changes any more.

struct Adam {
    float rate, beta1, beta2, epsilon, correction1, correction2, shrink, limit, scale;
};

__device__ inline float adam(float w, float g, float *first, float *second, Adam step) {
    g = g * step.scale;
    float m = step.beta1 * *first + (1.0f - step.beta1) * g;
    float v = step.beta2 * *second + (1.0f - step.beta2) * g * g;
    float size = sqrtf(v * step.correction2) + step.epsilon;
    w = w - step.shrink * w - step.rate * (m * step.correction1) / size;
    w = w > step.limit ? step.limit : w;
    *first = m;
    *second = v;
    return w < -step.limit ? -step.limit : w;
}

// Biases and dense layers: one array, each weight with its own limit. One thread a weight.
KERNEL adam_flat(float *__restrict__ w, const float *__restrict__ g, float *__restrict__ first,
                                     float *__restrict__ second, const float *__restrict__ limits,
                                     const float *__restrict__ ok, int count, Adam step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count || *ok == 0.0f) return;
    step.limit = limits[i];
    w[i] = adam(w[i], g[i], first + i, second + i, step);
}

// Shared rows: their gradient is the sum over the buckets. One block a slot. The gradient's columns start at `from`;
// with `split` they are in two parts, so many columns apart.
KERNEL adam_shared(float *__restrict__ w, const float *__restrict__ gradient,
                                       float *__restrict__ first, float *__restrict__ second,
                                       const float *__restrict__ ok, int buckets, int width, int columns, int from,
                                       int split, Adam step) {
    if (*ok == 0.0f) return;
    long long slot = blockIdx.x, slots = gridDim.x;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        float g = 0;
        for (int b = 0; b < buckets; b++) {
            const float *row = gradient + (b * slots + slot) * columns + from;
            g += split ? row[c] + row[c + split] : row[c];
        }
        long long i = slot * width + c;
        w[i] = adam(w[i], g, first + i, second + i, step);
    }
}

// A table's own rows; then the merged weight (own + shared row, `shared` may be null) is clipped to ±limit by changing the
// own one, and written as the 16-bit floats that the transformer reads. One block a feature.
KERNEL adam_table(float *__restrict__ w, const float *__restrict__ gradient,
                                      float *__restrict__ first, float *__restrict__ second,
                                      const float *__restrict__ shared, half16 *__restrict__ merged,
                                      const float *__restrict__ ok, int slots, int width, int columns, int from,
                                      int split, float limit, Adam step) {
    if (*ok == 0.0f) return;
    long long feature = blockIdx.x;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        const float *row = gradient + feature * columns + from;
        float g = split ? row[c] + row[c + split] : row[c];
        long long i = feature * width + c;
        float own = adam(w[i], g, first + i, second + i, step);
        float other = shared ? shared[feature % slots * width + c] : 0.0f;
        float sum = shared ? own + other : own;
        float kept = sum > limit ? limit : sum;
        kept = kept < -limit ? -limit : kept;
        // A NaN is neither above nor below and stays, so that the loss shows it.
        if (kept != sum && sum == sum) own = shared ? kept - other : kept;
        w[i] = own;
        half16 *out = merged + feature * columns + from + c;
        out[0] = narrow(kept);
        if (split) out[split] = narrow(kept - widen(narrow(kept)));
    }
}
