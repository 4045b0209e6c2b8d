// Breadth-first searches from many sources at a time, 64 to a word.
//
// Algorithm. Each bit of a word belongs to one search. One look at an edge serves all searches that have its vertex in
// their frontiers; in graphs of small diameter most searches of a batch have it at the same levels (Then et al. 2014;
// Liu, Huang and Hu 2016). A level is three launches. The first finds `next`, the targets of the edges out of the
// frontiers: in `pull` each vertex gathers the words of its in-neighbours until all searches have seen it, in `push`
// the vertices of a frontier send their words. The host chooses `push` where few vertices are in any frontier. The
// second launch, `pull_hubs` or `push_hubs`, takes the rest of the hubs' edges, with all warps. The third, `settle`,
// drops what was seen before from `next`, writes the distances, and makes the rest the new frontier. Where only the
// number of targets at each distance is wanted, `tally` takes its place: a warp transposes the bits of its 32 vertices,
// so that each lane has those of a search, and counts them.
//
// Encoding. A batch is W words a vertex. A shard owns the vertices [lo, hi) and the edges into them, by target (in_*,
// row v - lo) and by source (out_*, row u, only targets in the range). `frontier` has the words of all n vertices;
// shards exchange it. `seen` and `next` have the words of the shard's own vertices. Bits that no search of the batch
// uses count as seen everywhere, so a vertex is done when its words are all ones. `distance` has a row of the shard's
// vertices for each search; `first` is the row of the batch's first bit.
//
// Cost. A level reads at most W words for each edge, at random, and passes over W words of each vertex three times.
// Each distance is written once, or none. To transpose 32 x 32 bits takes five shuffles. `settle` takes the bits of a
// warp's vertices in turn, so that its writes are contiguous.
//
// Sources. M. Then, M. Kaufmann, F. Chirigati, T. Hoang-Vu, K. Pham, A. Kemper, T. Neumann, H. Vo, "The more the
// merrier: efficient multi-source graph traversal", 2014. H. Liu, H. Huang, Y. Hu, "iBFS: concurrent breadth-first
// search on GPUs", 2016.

#include "warp.cuh"
#include "hubs.cuh"

constexpr int THREADS = 256;
constexpr int SERIAL = 32;  // edges from which on a warp looks at them together

using Word = unsigned long long;

template <int W> struct alignas(W == 1 ? 8 : 16) Words {
    Word at[W];

    __device__ __forceinline__ void operator|=(const Words& other) {
#pragma unroll
        for (int w = 0; w < W; ++w) at[w] |= other.at[w];
    }
    __device__ __forceinline__ bool any() const {
        Word bits = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) bits |= at[w];
        return bits != 0;
    }
    __device__ __forceinline__ bool full() const {
        Word bits = ~0ULL;
#pragma unroll
        for (int w = 0; w < W; ++w) bits &= at[w];
        return bits == ~0ULL;
    }
    // What the lane `owner` has, or what all lanes of the warp have together.
    __device__ __forceinline__ Words of(int owner) const {
        Words theirs;
#pragma unroll
        for (int w = 0; w < W; ++w) theirs.at[w] = __shfl_sync(ALL, at[w], owner);
        return theirs;
    }
    __device__ __forceinline__ Words together() const {
        Words all;
#pragma unroll
        for (int w = 0; w < W; ++w)
            all.at[w] = static_cast<Word>(__reduce_or_sync(ALL, static_cast<unsigned>(at[w] >> 32))) << 32 |
                        __reduce_or_sync(ALL, static_cast<unsigned>(at[w]));
        return all;
    }
};

// Start the searches of a batch: search i from sources[i], which several may share.
template <int W>
__global__ void __launch_bounds__(THREADS)
    plant(int count, const int* __restrict__ sources, int lo, int hi, Words<W>* frontier, Words<W>* seen, int first,
          int* distance) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const int v = sources[i];
    const Word bit = 1ULL << (i % 64);
    atomicOr(&frontier[v].at[i / 64], bit);
    if (v < lo || v >= hi) return;
    atomicOr(&seen[v - lo].at[i / 64], bit);
    distance[static_cast<long long>(first + i) * (hi - lo) + (v - lo)] = 0;
}

// next[v - lo] = the words of all in-neighbours of v, until with those that have seen it they are all ones.
template <typename Offset, int W>
__global__ void __launch_bounds__(THREADS)
    pull(const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, int own_count,
         const Words<W>* __restrict__ frontier, const Words<W>* __restrict__ seen, Words<W>* next, Hub* hubs,
         Word* total) {
    const int own = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    Offset e = 0, end = 0;
    Words<W> found{}, known{};
    if (own < own_count) {
        known = seen[own];
        if (!known.full()) e = in_indptr[own], end = in_indptr[own + 1];
    }
    if (end - e <= SERIAL)
        for (; e < end; ++e) {
            const Words<W> theirs = frontier[in_indices[e]];
            found |= theirs;
            known |= theirs;
            if (known.full()) e = end - 1;
        }
    for (unsigned left = __ballot_sync(ALL, e < end); left; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const Offset begin = __shfl_sync(ALL, e, owner), last = __shfl_sync(ALL, end, owner);
        const Offset stop = begin + HUB < last ? begin + HUB : last;
        const Words<W> before = known.of(owner);
        Words<W> mine{}, all{};
        Offset base = begin;
        for (; base < stop; base += 32) {
            if (base + lane < stop) mine |= frontier[in_indices[base + lane]];
            all = mine.together();
            Words<W> then = before;
            then |= all;
            if (then.full()) break;
        }
        if (lane != owner) continue;
        found = all;
        if (base >= stop && stop < end) put_off(hubs, total, own, end - stop);
    }
    if (own < own_count) next[own] = found;
}

// The same for what was put off.
template <typename Offset, int W>
__global__ void __launch_bounds__(THREADS, 4)
    pull_hubs(const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
              const Words<W>* __restrict__ frontier, const Words<W>* __restrict__ seen, Words<W>* next, const Hub* hubs,
              const Word* total) {
    const int warps = gridDim.x * (THREADS / 32), warp = (blockIdx.x * THREADS + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    each_piece(hubs, *total, in_indptr, HUB, warp, warps, [&](int row, Offset begin, Offset end) {
        Words<W> mine{}, known = seen[row];
#pragma unroll
        for (int w = 0; w < W; ++w) known.at[w] |= __ldcg(&next[row].at[w]);
        if (__any_sync(ALL, known.full())) return;  // others set bits meanwhile
        for (Offset e = begin + lane; e < end; e += 32) mine |= frontier[in_indices[e]];
        mine = mine.together();
#pragma unroll
        for (int w = 0; w < W; ++w)
            if (lane == w && mine.at[w] & ~known.at[w]) atomicOr(&next[row].at[w], mine.at[w]);
    });
}

// Send words to a vertex. A look before the atomic may be stale, and then costs the atomic.
template <int W> __device__ __forceinline__ void send(const Words<W>& words, const Words<W>& seen, Words<W>& next) {
#pragma unroll
    for (int w = 0; w < W; ++w) {
        const Word bits = words.at[w] & ~seen.at[w];
        if (bits & ~next.at[w]) atomicOr(&next.at[w], bits);
    }
}

// Send the words of the frontier's vertices along their edges. `next` is zero before.
template <typename Offset, int W>
__global__ void __launch_bounds__(THREADS)
    push(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices, int n, int lo,
         const Words<W>* __restrict__ frontier, const Words<W>* __restrict__ seen, Words<W>* next, Hub* hubs,
         Word* total) {
    const int u = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    Offset e = 0, end = 0;
    Words<W> own{};
    if (u < n) own = frontier[u];
    if (own.any()) e = out_indptr[u], end = out_indptr[u + 1];
    if (end - e >= HUB) {
        put_off(hubs, total, u, end - e);
        end = e;
    }
    if (end - e <= SERIAL)
        for (; e < end; ++e) send(own, seen[out_indices[e] - lo], next[out_indices[e] - lo]);
    for (unsigned left = __ballot_sync(ALL, e < end); left; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const Offset stop = __shfl_sync(ALL, end, owner);
        const Words<W> theirs = own.of(owner);
        for (Offset at = __shfl_sync(ALL, e, owner) + lane; at < stop; at += 32) {
            const int v = out_indices[at] - lo;
            send(theirs, seen[v], next[v]);
        }
    }
}

// The same for what was put off.
template <typename Offset, int W>
__global__ void __launch_bounds__(THREADS, 6)
    push_hubs(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices, int lo,
              const Words<W>* __restrict__ frontier, const Words<W>* __restrict__ seen, Words<W>* next, const Hub* hubs,
              const Word* total) {
    const int warps = gridDim.x * (THREADS / 32), warp = (blockIdx.x * THREADS + threadIdx.x) / 32;
    each_piece(hubs, *total, out_indptr, 0, warp, warps, [&](int row, Offset begin, Offset end) {
        const Words<W> words = frontier[row];
        const int* const targets = out_indices + begin;
        for (int at = threadIdx.x % 32; at < end - begin; at += 32)
            send(words, seen[targets[at] - lo], next[targets[at] - lo]);
    });
}

// Make what is new in a vertex's `next` its frontier, and return it; `next` is zero then.
template <int W>
__device__ __forceinline__ Words<W> settled(Words<W>& next, Words<W>& seen, Words<W>& frontier) {
    Words<W> known = seen, fresh = next;
#pragma unroll
    for (int w = 0; w < W; ++w) fresh.at[w] &= ~known.at[w];
    frontier = fresh;
    if (next.any()) next = Words<W>{};
    if (fresh.any()) {
        known |= fresh;
        seen = known;
    }
    return fresh;
}

// Make what is new in `next` the frontier, at distance `level`, and count its vertices; `next` is zero then.
template <int W>
__global__ void __launch_bounds__(THREADS)
    settle(int lo, int hi, int level, Words<W>* next, Words<W>* seen, Words<W>* frontier, int first, int* distance,
           Word* active) {
    const int own = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    Words<W> fresh{};
    if (own < hi - lo) fresh = settled(next[own], seen[own], frontier[lo + own]);
    const Words<W> all = fresh.together();
#pragma unroll
    for (int w = 0; w < W; ++w)
        for (Word bits = all.at[w]; bits; bits &= bits - 1) {
            const int bit = __ffsll(bits) - 1;
            if (fresh.at[w] >> bit & 1ULL)
                distance[static_cast<long long>(first + 64 * w + bit) * (hi - lo) + own] = level;
        }
    const unsigned there = __ballot_sync(ALL, fresh.any());
    if (lane == 0 && there) atomicAdd(active, static_cast<Word>(__popc(there)));
}

// Bit k of lane l becomes bit l of lane k.
__device__ __forceinline__ unsigned transposed(unsigned bits) {
    unsigned low = 0x0000ffff;
#pragma unroll
    for (int far = 16; far; far >>= 1, low ^= low << far) {
        const unsigned theirs = __shfl_xor_sync(ALL, bits, far);
        bits = threadIdx.x & far ? (bits & ~low) | ((theirs & ~low) >> far) : (bits & low) | ((theirs & low) << far);
    }
    return bits;
}

// Settle the vertices of the whole graph, and add to counts[i] how many targets are new to search i.
template <int W>
__global__ void __launch_bounds__(THREADS)
    tally(int n, const bool* __restrict__ targets, Words<W>* next, Words<W>* seen, Words<W>* frontier, unsigned* counts,
          Word* active) {
    __shared__ unsigned sums[64 * W];
    for (int i = threadIdx.x; i < 64 * W; i += THREADS) sums[i] = 0;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    unsigned mine[2 * W] = {}, there = 0;
    for (long long base = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x - lane; base < n;
         base += static_cast<long long>(gridDim.x) * THREADS) {
        const long long v = base + lane;
        Words<W> fresh{};
        if (v < n) fresh = settled(next[v], seen[v], frontier[v]);
        there += __popc(__ballot_sync(ALL, fresh.any()));
        if (v >= n || !targets[v]) fresh = Words<W>{};
#pragma unroll
        for (int w = 0; w < W; ++w) {
            if (!__any_sync(ALL, fresh.at[w] != 0)) continue;
            mine[2 * w] += __popc(transposed(static_cast<unsigned>(fresh.at[w])));
            mine[2 * w + 1] += __popc(transposed(static_cast<unsigned>(fresh.at[w] >> 32)));
        }
    }
#pragma unroll
    for (int k = 0; k < 2 * W; ++k)
        if (mine[k]) atomicAdd(sums + 32 * k + lane, mine[k]);
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * W; i += THREADS)
        if (sums[i]) atomicAdd(counts + i, sums[i]);
    if (lane == 0 && there) atomicAdd(active, static_cast<Word>(there));
}
