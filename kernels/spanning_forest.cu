// Minimum spanning forest: Borůvka's algorithm.
//
// Algorithm. In a round every component takes its least edge to another component, and the components that these edges
// join become one. A component's edge is found in three steps. `choose` finds each vertex's least edge that leaves its
// component and lowers the component's bound, (weight, lesser end). `settle` lets the vertices whose edge attains the
// bound agree on the least of the greater ends. `hook` puts each root below the component at the other end of its
// edge; of two roots that took the same edge the lesser stays a root. `relabel` climbs to the new roots. The rounds
// end when no root was hooked.
//
// Order. Edges are compared by weight, then by lesser end, then by greater end. No two edges are equal, so that the
// forest is the only one that is minimal in this order, and chosen edges close no cycle but between two roots that
// took the same edge. Repeated edges of one weight count as one.
//
// Encoding. keys[e] orders as the weights do, in 32 bits with sign. best[c] = key << 32 | lesser end, signed, NONE
// where no edge leaves; ends[c] is the greater end. choice[row] = key << 32 | place of the edge in its row, NONE where
// no edge leaves. A row's ends ascend, so the least choice is its least edge. comp[v] is the root of v's component, at
// the beginning v itself. parent[c] is c for a root. A shard has the rows of the vertices [lo, lo + rows), and with
// the directed edges of a graph one list of them by source and one by target.
//
// Cost. At most log2 n rounds, each a pass over the keys of all edges. An edge's end is looked up only if its key does
// not exceed the bound that its component has already. Rows of more than HUB edges are dealt to all warps.
//
// Races. Bounds only fall, by atomic minima: a stale one lets an edge be looked up in vain. In `relabel` a thread may
// read a parent before or after another one shortens the path; both are ancestors.
//
// Sources. O. Borůvka, "O jistém problému minimálním", 1926. S. Chung, A. Condon, "Parallel implementation of
// Borůvka's minimum spanning tree algorithm", 1996. A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A high-performance
// MST implementation for GPUs", 2023.

#include "warp.cuh"
#include "hubs.cuh"

constexpr int THREADS = 256;
constexpr int GROUP = 8;  // lanes that share a row
constexpr long long NONE = 0x7fffffffffffffffLL;
constexpr int NO_END = 0x7fffffff;

__device__ __forceinline__ long long packed(int key, unsigned low) {
    return static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(key)) << 32 | low);
}
__device__ __forceinline__ int key_of(long long pair) { return static_cast<int>(pair >> 32); }
__device__ __forceinline__ unsigned low_of(long long pair) { return static_cast<unsigned>(pair); }

// The least of some lanes' numbers, known to all of them.
template <int LANES> __device__ __forceinline__ long long least(long long mine, unsigned lanes) {
#pragma unroll
    for (int step = LANES / 2; step; step /= 2) mine = min(mine, __shfl_xor_sync(lanes, mine, step));
    return mine;
}

// The least edge that leaves vertex u's component, of the edges begin to end of its row, which starts at `start`: every
// LANES-th one, from `lane` on.
template <int LANES, typename Offset>
__device__ __forceinline__ long long least_edge(const int* __restrict__ indices, const int* __restrict__ keys,
                                                const int* __restrict__ comp, int u, bool alone, long long bound,
                                                Offset start, Offset begin, Offset end, int lane) {
    const int own = comp[u], most = bound == NONE ? NO_END : key_of(bound);
    long long mine = NONE;
    for (Offset e = begin + lane; e < end; e += LANES) {
        const int key = keys[e];
        if (key > most) continue;
        const long long candidate = packed(key, static_cast<unsigned>(e - start));
        if (candidate >= mine) continue;
        const int v = indices[e];
        if ((alone ? v : comp[v]) != own) mine = candidate;
    }
    return mine;
}

// Lower the bound of u's component to the edge that a choice stands for.
__device__ __forceinline__ void offer(long long choice, int u, int v, int own, long long* best) {
    const long long pair = packed(key_of(choice), min(u, v));
    if (pair < *static_cast<volatile long long*>(best + own)) atomicMin(best + own, pair);
}

// Each row's least edge that leaves its component; rows of hubs are put off. `alone`: each vertex is a component.
template <typename Offset>
__global__ void __launch_bounds__(THREADS)
    choose(const Offset* __restrict__ indptr, const int* __restrict__ indices, const int* __restrict__ keys, int lo,
           int rows, int alone, const int* __restrict__ comp, long long* best, long long* choice, Hub* hubs,
           unsigned long long* total) {
    const int lane = threadIdx.x % GROUP;
    const unsigned lanes = ((1u << GROUP) - 1) << (threadIdx.x % 32 / GROUP * GROUP);
    const unsigned row = (blockIdx.x * static_cast<unsigned>(THREADS) + threadIdx.x) / GROUP;
    if (row >= rows) return;
    const Offset begin = indptr[row], end = indptr[row + 1];
    if (end - begin > HUB) {
        if (lane == 0) {
            choice[row] = NONE;
            put_off(hubs, total, row, end - begin);
        }
        return;
    }
    const int u = lo + row, own = comp[u];
    const long long bound = *static_cast<volatile long long*>(best + own);
    const long long found = least<GROUP>(
        least_edge<GROUP>(indices, keys, comp, u, alone, bound, begin, begin, end, lane), lanes);
    if (lane) return;
    choice[row] = found;
    if (found != NONE) offer(found, u, indices[begin + low_of(found)], own, best);
}

// The same for the pieces of the rows that were put off.
template <typename Offset>
__global__ void __launch_bounds__(THREADS, 5)
    choose_hubs(const Offset* __restrict__ indptr, const int* __restrict__ indices, const int* __restrict__ keys,
                int lo, int alone, const int* __restrict__ comp, long long* best, long long* choice, const Hub* hubs,
                const unsigned long long* total) {
    const int lane = threadIdx.x % 32, warp = (blockIdx.x * THREADS + threadIdx.x) / 32;
    each_piece(hubs, *total, indptr, 0, warp, gridDim.x * (THREADS / 32), [&](int row, Offset begin, Offset end) {
        const int u = lo + row, own = comp[u];
        const Offset start = indptr[row];
        const long long bound = *static_cast<volatile long long*>(best + own);
        const long long found =
            least<32>(least_edge<32>(indices, keys, comp, u, alone, bound, start, begin, end, lane), ALL);
        if (lane || found == NONE) return;
        atomicMin(choice + row, found);
        offer(found, u, indices[start + low_of(found)], own, best);
    });
}

// The least of the greater ends of the edges that attain their component's bound.
template <typename Offset>
__global__ void __launch_bounds__(THREADS)
    settle(const Offset* __restrict__ indptr, const int* __restrict__ indices, int lo, int rows,
           const int* __restrict__ comp, const long long* __restrict__ best, const long long* __restrict__ choice,
           int* ends) {
    const unsigned row = blockIdx.x * static_cast<unsigned>(THREADS) + threadIdx.x;
    if (row >= rows) return;
    const long long found = choice[row];
    if (found == NONE) return;
    const int u = lo + row, v = indices[indptr[row] + low_of(found)], own = comp[u];
    if (packed(key_of(found), min(u, v)) == best[own]) atomicMin(ends + own, max(u, v));
}

// Put each root below the component at the other end of its edge. An edge whose lesser end is among the vertices [lo,
// hi) is added to the forest: (lesser end, greater end, key). counts: the roots that were hooked, and the edges so far.
extern "C" __global__ void __launch_bounds__(THREADS)
    hook(int n, int lo, int hi, const int* __restrict__ comp, const long long* __restrict__ best,
         const int* __restrict__ ends, int* parent, int* low, int* high, int* keys, int* counts) {
    const unsigned i = blockIdx.x * static_cast<unsigned>(THREADS) + threadIdx.x;
    if (i >= n) return;
    const int c = i;
    if (comp[c] != c || best[c] == NONE) return;
    const int u = low_of(best[c]), v = ends[c];
    const int other = comp[u] == c ? comp[v] : comp[u];
    if (c < other && best[other] == best[c] && ends[other] == v) return;
    parent[c] = other;
    atomicAdd(counts, 1);
    if (u < lo || u >= hi) return;
    const int place = atomicAdd(counts + 1, 1);
    low[place] = u;
    high[place] = v;
    keys[place] = key_of(best[c]);
}

// Set every vertex's new root, and clear the bounds.
extern "C" __global__ void __launch_bounds__(THREADS)
    relabel(int n, int* parent, int* comp, long long* best, int* ends) {
    const unsigned i = blockIdx.x * static_cast<unsigned>(THREADS) + threadIdx.x;
    if (i >= n) return;
    const int start = comp[i];
    int above = parent[start];
    for (int below = start, next; (next = parent[above]) != above; below = above, above = next) parent[below] = next;
    comp[i] = above;
    best[i] = NONE;
    ends[i] = NO_END;
}
