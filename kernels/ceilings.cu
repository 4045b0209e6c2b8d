// The highest rates of a device: additions and minima in registers, and random reads.
//
// Operations. `relaxations` takes values through two additions and minima a round, as the (min, +) kernels do it for
// each type (minplus.cu), and touches memory at its ends only. Each sum depends on the one before, so that no compiler
// folds them; a thread has enough values that none waits for another. `reads` adds up elements of a table at
// the hash of a counter. A copy measures how fast memory is read and written in order.
//
// Encoding. A value is relaxed through a step to min(value + step, limit). int16 comes in pairs, two neighbours in a
// word. With PAIRS both sums of a round are of the value before it, and one instruction finds the least of three, as
// in `update` without negative weights: there values and steps are not negative. The table's length is a power of
// two, its place a read goes to the finaliser of MurmurHash3, of the number of the read, modulo that; what was read
// adds up modulo 2^32.
//
// Cost. Only what is measured: a sum and a minimum for each of `relaxations`, two a round and value; an access of
// four bytes and six instructions for each of `reads`.

#include "relaxed.cuh"

constexpr int THREADS = 256;  // of a block,
constexpr int RESIDENT = 4;   // and blocks of a multiprocessor, for `relaxations`
constexpr int HELD = 16;      // words that a thread holds in registers,
constexpr int ROUNDS = 4;     // and rounds between two looks at the counter
constexpr int READERS = 8;    // blocks of a multiprocessor for `reads`,
constexpr int IN_FLIGHT = 4;  // and reads that a thread asks for before it takes the first

// Relax each of the values through `first` and `second` for a number of rounds; HELD values a thread.
template <typename T, bool PAIRS>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    relaxations(T* values, long long length, T first, T second, T limit, int rounds) {
    const long long own = static_cast<long long>(blockIdx.x) * THREADS * HELD + threadIdx.x;
    T held[HELD];
#pragma unroll
    for (int i = 0; i < HELD; ++i) held[i] = own + i * THREADS < length ? values[own + i * THREADS] : T(0);
    auto round = [&] {
        if constexpr (PAIRS) {
#pragma unroll
            for (int i = 0; i < HELD; ++i) held[i] = least(limit, held[i] + first, held[i] + second);
        } else {
#pragma unroll
            for (int i = 0; i < HELD; ++i) held[i] = relaxed(limit, held[i], first);
#pragma unroll
            for (int i = 0; i < HELD; ++i) held[i] = relaxed(limit, held[i], second);
        }
    };
#pragma unroll 1
    for (int done = ROUNDS; done <= rounds; done += ROUNDS)
#pragma unroll
        for (int r = 0; r < ROUNDS; ++r) round();
#pragma unroll 1
    for (int done = rounds / ROUNDS * ROUNDS; done < rounds; ++done) round();
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        if (own + i * THREADS < length) values[own + i * THREADS] = held[i];
}

// Add `count` elements of the table to `total`; `mask` is its length less one.
__global__ void __launch_bounds__(THREADS, READERS)
    reads(const unsigned* table, unsigned mask, long long count, unsigned* total) {
    const long long stride = static_cast<long long>(gridDim.x) * THREADS;
    unsigned sum = 0;
    for (long long at = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x; at < count;
         at += IN_FLIGHT * stride) {
        unsigned read[IN_FLIGHT];
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) {
            unsigned x = static_cast<unsigned>(at + i * stride);
            x = (x ^ x >> 16) * 0x85ebca6bu;
            x = (x ^ x >> 13) * 0xc2b2ae35u;
            x ^= x >> 16;
            read[i] = at + i * stride < count ? table[x & mask] : 0;
        }
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) sum += read[i];
    }
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}
