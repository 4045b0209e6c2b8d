// Core numbers by peeling.
//
// A vertex has core number k if it is in a subgraph whose vertices all have k edges or more there, and in none for
// k + 1. Of a directed graph an edge counts at both of its ends. A round takes away all vertices left that have at most
// `level` edges to others that are left: `level` is their core number. The level is the greatest, over the rounds so
// far, of the least degree of a vertex left. So each round takes at least one vertex. `settle` brings the degrees up to
// date and finds the least, `take` takes the vertices, `lower` counts what their neighbours lose by it.
//
// Encoding. taken[v] is the round that took v, or -1. A shard has all n degrees and the edges of some rows, and `lost`
// is added up over the shards after each round, so that all of them take the same vertices.
//
// Races. Only the additions to lost[] and the minima meet, which are atomic, and of integers: the order does not matter.
// `lower` reads taken[], which only `take` writes. An edge between two vertices taken in one round lowers neither.
//
// Launch. A thread a vertex; in `lower` the edges of 256 vertices are dealt to a block, in `find_flaws` a warp takes
// those of a vertex. With fewer blocks, which only measurements ask for (Device.limited), each makes several passes.
//
// Cost. Each edge once in all rounds together, with two random accesses; in each round 24 bytes a vertex, and a number
// that the host reads. A path of n vertices takes n / 2 rounds.
//
// Sources. S. B. Seidman, "Network structure and minimum degree", 1983. V. Batagelj, M. Zaversnik, "An O(m) algorithm
// for cores decomposition of networks", 2003. N. S. Dasari, R. Desh, M. Zubair, "ParK: an efficient algorithm for
// k-core decomposition on multicore processors", 2014: rounds by levels.

#include "warp.cuh"
#include "block.cuh"
#include "dealt.cuh"

// flaws[0] and flaws[1]: the least vertex with a self-loop, and with parallel edges. Rows are in ascending order, so
// that each edge of a vertex is compared with the next.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) find_flaws(const Offset* __restrict__ indptr,
                                                      const int* __restrict__ indices, int rows, int first,
                                                      int* __restrict__ flaws) {
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (unsigned row = own() / 32; row < rows; row += stride() / 32)
        for (Offset e = indptr[row] + lane, end = indptr[row + 1]; e < end; e += 32) {
            const int v = first + row, u = indices[e];
            if (u == v) atomicMin(flaws, v);
            if (e + 1 < end && u == indices[e + 1]) atomicMin(flaws + 1, v);
        }
}

// degrees -= lost, lost = 0, least = the least degree of a vertex left.
__global__ void __launch_bounds__(THREADS) settle(int n, int* __restrict__ lost, const int* __restrict__ taken,
                                                  int* __restrict__ degrees, int* least) {
    int found = 0x7fffffff;
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        const int degree = degrees[v] - lost[v];
        degrees[v] = degree;
        lost[v] = 0;
        if (taken[v] < 0) found = min(found, degree);
    }
    for (int step = 16; step > 0; step /= 2) found = min(found, __shfl_xor_sync(ALL, found, step));
    if (threadIdx.x % 32 == 0 && found < 0x7fffffff) atomicMin(least, found);
}

// Take the vertices left of at most `level` edges.
__global__ void __launch_bounds__(THREADS) take(int n, const int* __restrict__ degrees, int* __restrict__ taken,
                                                int* __restrict__ cores, int level, int round) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride())
        if (taken[v] < 0 && degrees[v] <= level) {
            taken[v] = round;
            cores[v] = level;
        }
}

// lost[u] += the edges to u, a vertex left, from vertices of these rows that were taken in this round. Offsets of 64 bits
// would spill a register on sm_100 if the compiler chose how many blocks are resident.
template <typename Offset>
__global__ void __launch_bounds__(THREADS, sizeof(Offset) == 8 ? 5 : 1)
    lower(const Offset* __restrict__ indptr, const int* __restrict__ indices, int rows, int first,
          const int* __restrict__ taken, int round, int* lost) {
    each_edge(
        indptr, indices, first, first + rows, [=](int v) { return taken[v] == round; },
        [=](int, int u) {
            if (taken[u] < 0) atomicAdd(lost + u, 1);
        });
}
