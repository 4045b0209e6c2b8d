// Strong components: two searches for the giant component, then colouring, in which the edges between colours drop out.
//
// Giant component. `pivot` picks a vertex of many edges out and in. `push` marks level by level what it reaches;
// `pull` marks, among these, the vertices with an edge to a marked one, until nothing changes. Whatever has both marks
// is the pivot's component. The levels of `pull` do not matter, so that a mark is seen at once.
//
// Colouring. Every vertex has a key, distinct and in random order. reached[v] becomes the greatest key of the vertices
// that reach v, reaches[v] the greatest of those that v reaches, each v itself included. Where both are the same key,
// its vertex reaches v and is reached by it: v is in that vertex's component. `settle` labels such vertices. It gives
// the others a new class by both keys, and they start again. Vertices of one component have the same keys and thus the
// same class. So `spread` passes over the edges between classes, which are on no cycle of what is left. The vertex of
// the greatest key is always labelled.
//
// Long paths. reached[v] names a vertex that reaches v, and what reaches that one reaches v: `jump` follows the names
// to their end. As keys are in random order, so is the greatest of each stretch of a path: a vertex learns the greatest
// key of a path after about as many rounds as a random binary search tree of its vertices is high, the logarithm of the
// path's length, and not after as many as its length. Vertices' own numbers for keys would not do: those of a path
// often ascend.
//
// Encoding. Edges are by source or by target: the components are the same. forward[v] is 1 + the level of v, or 0, and
// backward[v] is 1 or 0. labels[v] is a vertex of v's component, or -1. classes[v] is 0 for a labelled vertex.
// Classes are hashes: of two that collide, only edges are kept that might be dropped.
//
// Races. Marks are bytes, and all threads write the same. Keys only grow, and each that a thread reads was right at
// some time. A round in which `spread` changes nothing has read final keys only.
//
// Launch. A thread a vertex, the edges of 256 vertices dealt to a block; `pivot` is one block.
//
// Cost. The edges of what the pivot reaches are read once by `push`, and few of them by `pull`, with a byte at random
// an edge. A round of `spread` reads the edges of unlabelled vertices, and a class and two keys at random an edge.
//
// Sources. G. Alabandi, W. Sands, G. Biros, M. Burtscher, "A GPU algorithm for detecting strongly connected components",
// 2023: keys in both directions at once, path compression, dropping edges. G. Slota, S. Rajamanickam, K. Madduri, "BFS
// and coloring-based parallel algorithms for strongly connected components and related problems", 2014: the giant
// component first, and its pivot. A. Appleby, "MurmurHash3", 2011: the multipliers of the keys.

#include "warp.cuh"
#include "block.cuh"
#include "dealt.cuh"

constexpr int PROBES = 1024;  // edges whose targets `pivot` looks at
constexpr int FIRST = 4;      // edges of a vertex that its own thread looks at in `pull`

// The key of a vertex, and the vertex of a key.
__device__ __forceinline__ unsigned key_of(unsigned v) {
    v *= 0x85ebca6bu;
    return (v ^ v >> 16) * 0xc2b2ae35u;
}
__device__ __forceinline__ unsigned vertex_of(unsigned key) {
    key *= 0x7ed1b41du;  // the inverses modulo 2^32 of the multipliers above
    return (key ^ key >> 16) * 0xa5cb9243u;
}

// chosen[0] = of the targets of the probed edges, that with the greatest product of its edges and its probes.
template <typename Offset>
__global__ void __launch_bounds__(PROBES) pivot(const Offset* __restrict__ indptr, const int* __restrict__ indices,
                                                long long edges, int* chosen) {
    __shared__ int targets[PROBES];
    __shared__ unsigned long long best;
    const unsigned long long place = threadIdx.x * 2654435769u >> 8;  // multiples of the golden ratio, spread evenly
    const int mine = indices[place * edges >> 24];
    targets[threadIdx.x] = mine;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    unsigned count = 0;
    for (int i = 0; i < PROBES; ++i) count += targets[i] == mine;
    const Offset degree = indptr[mine + 1] - indptr[mine];
    const unsigned product = count * static_cast<unsigned>(min(degree, static_cast<Offset>(1 << 21)));
    atomicMax(&best, static_cast<unsigned long long>(product) << 32 | ~static_cast<unsigned>(mine));
    __syncthreads();
    if (threadIdx.x == 0) *chosen = static_cast<int>(~static_cast<unsigned>(best));
}

// Mark the next level: what the vertices of one level have edges to.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) push(const Offset* __restrict__ indptr, const int* __restrict__ indices,
                                                int n, int level, unsigned char* forward, int* active) {
    bool found = false;
    each_edge(
        indptr, indices, 0, n, [=](int v) { return forward[v] == level; },
        [=, &found](int, int u) {
            if (forward[u]) return;
            forward[u] = level + 1;
            found = true;
        });
    if (found) *active = 1;
}

// Mark the vertices with a mark in `forward` and an edge to a vertex that is marked in `backward`.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) pull(const Offset* __restrict__ indptr, const int* __restrict__ indices,
                                                int n, const unsigned char* __restrict__ forward,
                                                unsigned char* backward, int* active) {
    bool found = false;
    each_edge(
        indptr, indices, 0, n,
        [=, &found](int v) {
            if (!forward[v] || backward[v]) return false;
            const Offset first = indptr[v], last = indptr[v + 1];
            for (int i = 0; i < FIRST && first + i < last; ++i) {
                if (!backward[indices[first + i]]) continue;
                backward[v] = 1;
                found = true;
                return false;
            }
            return last - first > FIRST;
        },
        [=, &found](int v, int u) {
            if (!backward[u] || backward[v]) return;
            backward[v] = 1;
            found = true;
        });
    if (found) *active = 1;
}

// labels[v] = giant where v has both marks, else -1.
__global__ void __launch_bounds__(THREADS) divide(int n, const unsigned char* __restrict__ forward,
                                                  const unsigned char* __restrict__ backward, int giant, int* labels) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) labels[v] = forward[v] && backward[v] ? giant : -1;
}

// Give every vertex its own key, and a class: 0 if it is labelled, else by its mark.
__global__ void __launch_bounds__(THREADS) start(int n, const unsigned char* __restrict__ forward,
                                                 const int* __restrict__ labels, unsigned* classes, unsigned* reached,
                                                 unsigned* reaches) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        classes[v] = labels[v] >= 0 ? 0 : forward[v] ? 1 : 2;
        reached[v] = reaches[v] = key_of(v);
    }
}

// Pass keys on along the edges within a class, in both directions.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) spread(const Offset* __restrict__ indptr, const int* __restrict__ indices,
                                                  int n, const unsigned* __restrict__ classes, unsigned* reached,
                                                  unsigned* reaches, int* active) {
    bool found = false;
    each_edge(
        indptr, indices, 0, n, [=](int v) { return classes[v] != 0; },
        [=, &found](int v, int u) {
            if (classes[u] != classes[v]) return;
            const unsigned from = reached[v], back = reaches[u];
            if (from > reached[u]) {
                atomicMax(reached + u, from);
                found = true;
            }
            if (back > reaches[v]) {
                atomicMax(reaches + v, back);
                found = true;
            }
        });
    if (found) *active = 1;
}

// Follow the vertices that keys name to the greatest key.
__device__ __forceinline__ unsigned last_key(const unsigned* keys, unsigned key) {
    for (unsigned next; (next = keys[vertex_of(key)]) > key;) key = next;
    return key;
}
__global__ void __launch_bounds__(THREADS) jump(int n, const unsigned* __restrict__ classes, unsigned* reached,
                                                unsigned* reaches) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        if (!classes[v]) continue;
        reached[v] = last_key(reached, reached[v]);
        reaches[v] = last_key(reaches, reaches[v]);
    }
}

// Label the vertices whose keys are the same; give the others a class by both keys, and their own keys again.
__global__ void __launch_bounds__(THREADS) settle(int n, unsigned* classes, unsigned* reached, unsigned* reaches,
                                                  int* labels, int* active) {
    bool left = false;
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        if (!classes[v]) continue;
        const unsigned from = reached[v], to = reaches[v];
        if (from == to) {
            labels[v] = vertex_of(from);
            classes[v] = 0;
        } else {
            classes[v] = max(1u, key_of(classes[v] ^ key_of(from ^ key_of(to))));
            reached[v] = reaches[v] = key_of(v);
            left = true;
        }
    }
    if (left) *active = 1;
}
