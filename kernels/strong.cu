// Strong components: two searches for the giant component, then colouring, in which the edges between colours drop out.
//
// Giant component. `pivot` picks a vertex of many edges out and in. `find_giant` marks level by level what it reaches;
// then, among these, the vertices with an edge to a marked one, until nothing changes. Whatever has both marks is the
// pivot's component. The levels of the second search do not matter, so that a mark is seen at once. After PUSHES levels
// or PULLS rounds it gives up, and colouring finds all components.
//
// Colouring. Every vertex has a key, distinct and in random order. reached[v] becomes the greatest key of the vertices
// that reach v, reaches[v] the greatest of those that v reaches, each v itself included. Where both are the same key,
// its vertex reaches v and is reached by it: v is in that vertex's component. Such vertices are labelled. The others
// get a new class by both keys, and start again. Vertices of one component have the same keys and thus the same class.
// So keys are not passed on between classes, whose edges are on no cycle of what is left. The vertex of the greatest
// key is always labelled.
//
// Long paths. reached[v] names a vertex that reaches v, and what reaches that one reaches v: a vertex follows the names
// to their end. As keys are in random order, so is the greatest of each stretch of a path: a vertex learns the greatest
// key of a path after about as many passes as a random binary search tree of its vertices is high, the logarithm of the
// path's length, and not after as many as its length. Vertices' own numbers for keys would not do: those of a path
// often ascend. What reaches v also reaches the vertex that reaches[v] names, so that vertex gets the key at once, and
// with it all whose reached[] names it, as trees are hooked to each other for weak components.
//
// Encoding. Edges are by source or by target: the components are the same. forward[v] is 1 + the level of v, or 0, and
// backward[v] is 1 or 0. labels[v] is a vertex of v's component, or -1. classes[v] is 0 for a labelled vertex. Classes
// are hashes. If two collide, edges between them are kept that might be dropped, which costs time only.
//
// Races. Marks are bytes, and all threads write the same. Keys only grow, and each that a thread reads was right at
// some time. A pass in which nothing changes has read final keys only.
//
// Launch. `pivot` is one block. The others are cooperative: one launch makes all passes, with a barrier between them;
// the edges of 256 vertices are dealt to a block.
//
// Cost. The edges of what the pivot reaches are read once by the first search, and few of them by the second, with a
// byte at random an edge. A pass of colouring reads the edges of unlabelled vertices, and a class and two keys at
// random an edge.
//
// Sources. G. Alabandi, W. Sands, G. Biros, M. Burtscher, "A GPU algorithm for detecting strongly connected
// components", 2023: keys in both directions at once, path compression, dropping edges. G. Slota, S. Rajamanickam, K.
// Madduri, "BFS and coloring-based parallel algorithms for strongly connected components and related problems", 2014:
// the giant component first, and its pivot. A. Appleby, "MurmurHash3", 2011: the multipliers of the keys.

#include "warp.cuh"
#include "block.cuh"
#include "dealt.cuh"
#include "grid.cuh"

constexpr int BLOCKS = 6;               // room for so many on a multiprocessor; fewer are launched
constexpr int PROBES = 1024;            // edges whose targets `pivot` looks at
constexpr int FIRST = 4;                // edges of a vertex that its own thread looks at in the second search
constexpr int PUSHES = 64, PULLS = 16;  // the most rounds of the searches, of which the second may read edges again

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

// The words of `control`: the barrier's count, flags of three passes, a least vertex, and the number of rounds.
constexpr int FLAG = 1, LEAST = 4, ROUNDS = 5;

// Wait for all blocks; return whether anything was `found` in this pass by any thread. The flags of three passes take
// turns: the next one is cleared when all blocks have read what it said two passes ago.
__device__ __forceinline__ bool any_in_grid(bool found, unsigned* control, int pass) {
    unsigned* flags = control + FLAG;
    if (__syncthreads_or(found) && threadIdx.x == 0) flags[pass % 3] = 1;
    if (own() == 0) flags[(pass + 1) % 3] = 0;
    grid_barrier(control);
    return __ldcg(flags + pass % 3);
}

// Label the component of chosen[0] with its least vertex, the other vertices with -1. All with -1, and no marks, if one
// of the searches takes too many rounds, or if chosen[0] is -1.
template <typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    find_giant(const Offset* __restrict__ indptr, const int* __restrict__ indices, int n,
               const int* __restrict__ chosen, unsigned char* forward, unsigned char* backward, int* labels,
               unsigned* control) {
    const int first = *chosen;
    if (own() == 0) control[LEAST] = ALL;
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) forward[v] = backward[v] = v == first;
    grid_barrier(control);
    int pass = 0;

    // What the vertices of one level have edges to is the next level. All blocks share the edges of the first vertex,
    // which may be most of all.
    bool found = false;
    int level = 1;
    const auto mark = [&](int, int u) {
        if (forward[u]) return;
        forward[u] = level + 1;
        found = true;
    };
    if (first >= 0)
        for (long long e = indptr[first] + static_cast<long long>(own()); e < indptr[first + 1]; e += stride())
            mark(first, indices[e]);
    bool active = any_in_grid(found, control, pass++);
    for (level = 2; active && level < PUSHES; ++level) {
        found = false;
        each_edge(indptr, indices, 0, n, [=](int v) { return forward[v] == level; }, mark);
        active = any_in_grid(found, control, pass++);
    }
    bool ends = !active;
    active = ends;
    // Of these vertices, those with an edge to a marked one are marked.
    for (int i = 0; active && i < PULLS; ++i) {
        found = false;
        each_edge(
            indptr, indices, 0, n,
            [=, &found](int v) {
                if (!forward[v] || backward[v]) return false;
                const Offset begin = indptr[v], end = indptr[v + 1];
                for (int e = 0; e < FIRST && begin + e < end; ++e) {
                    if (!backward[indices[begin + e]]) continue;
                    backward[v] = 1;
                    found = true;
                    return false;
                }
                return end - begin > FIRST;
            },
            [=, &found](int v, int u) {
                if (!backward[u] || backward[v]) return;
                backward[v] = 1;
                found = true;
            });
        active = any_in_grid(found, control, pass++);
    }
    ends = ends && !active;

    if (ends) {
#pragma unroll 1
        for (unsigned v = own(); v < n; v += stride()) {
            if (!backward[v]) continue;
            if (v < __ldcg(control + LEAST)) atomicMin(control + LEAST, v);
            break;
        }
        grid_barrier(control);
    }
    const int giant = __ldcg(control + LEAST);
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        labels[v] = ends && backward[v] ? giant : -1;
        if (!ends) forward[v] = 0;
    }
}

// Raise a key to another that is greater; return whether it was.
__device__ __forceinline__ bool raise(unsigned* key, unsigned other) {
    if (other <= *key) return false;
    atomicMax(key, other);
    return true;
}

// Follow the vertices that keys name to the greatest key.
__device__ __forceinline__ unsigned last_key(const unsigned* keys, unsigned key) {
    for (unsigned next; (next = keys[vertex_of(key)]) > key;) key = next;
    return key;
}

// Label the vertices without a label, and write the number of rounds.
template <typename Offset>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    colour(const Offset* __restrict__ indptr, const int* __restrict__ indices, int n,
           const unsigned char* __restrict__ forward, int* labels, unsigned* classes, unsigned* reached,
           unsigned* reaches, unsigned* control) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        classes[v] = labels[v] >= 0 ? 0 : forward[v] ? 1 : 2;
        reached[v] = reaches[v] = key_of(v);
    }
    grid_barrier(control);
    int pass = 0, rounds = 0;
    bool left = true;
    while (left) {
        bool found;
        do {  // jump, and pass keys on along the edges within a class, until no key changes
            found = false;
            each_edge(
                indptr, indices, 0, n,
                [=, &found](int v) {
                    if (!classes[v]) return false;
                    const unsigned from = last_key(reached, reached[v]), to = last_key(reaches, reaches[v]);
                    found |= raise(reached + v, from) | raise(reaches + v, to);
                    // The vertex that `from` names reaches v, which reaches the vertex that `to` names.
                    found |= raise(reached + vertex_of(to), from) | raise(reaches + vertex_of(from), to);
                    return true;
                },
                [=, &found](int v, int u) {
                    if (classes[u] != classes[v]) return;
                    found |= raise(reached + u, reached[v]);
                    found |= raise(reaches + v, reaches[u]);
                });
        } while (any_in_grid(found, control, pass++));

        // Label the vertices whose keys are the same; give the others a class by both, and their own keys again.
        left = false;
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
        left = any_in_grid(left, control, pass++);
        ++rounds;
    }
    if (own() == 0) control[ROUNDS] = rounds;
}
