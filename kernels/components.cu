// Connected components: Afforest, which skips most edges of the giant component, and the algorithm of Shiloach and
// Vishkin.
//
// Afforest. `plant` makes the first neighbour of each vertex its parent if that is smaller, without an atomic.
// `sample` links each vertex with its first two neighbours, which joins most vertices of a real graph. After each step
// `compress` makes every vertex point to its root. `largest` estimates the giant component from 1,024 vertices.
// Vertices of the giant component need not look at their other edges: an edge that leaves it is seen from its other
// end. `link` handles the remaining vertices. If each edge is stored at one end only, no vertex may be skipped.
//
// Shiloach and Vishkin. A round has five steps. Each vertex is short-cut to its grandparent. Each root is hooked to a
// smaller neighbour of its tree. Each stagnant root, whose tree did not change, is hooked to any neighbour. Each
// vertex is short-cut again. The rounds end if all roots were stagnant. There are at most log n to the base 3/2, plus
// 2, rounds. The six kernels follow Dehne and Yogaratnam; `least` and `rename` then name the components.
//
// Encoding. parent[v] is v for a root. In Afforest, and in all forests that are joined, parent[v] <= v. So there are
// no cycles, however threads interleave, and the root is the least vertex of its component, whichever thread hooks
// first. A shard has the edges of the vertices [lo, hi), row v - lo, and a forest of all n vertices.
//
// Several shards. Each has an own giant component after `sample`, and tells the others its members, a bit a vertex; its
// root has none. After `link` each takes another's giant component as one vertex: `absorb` unites the members that have
// others in their trees here with the root, and roots that are members of another giant. So no root of a larger tree is
// a member, as it is the least vertex of its tree. Then shards pass on the parents of all other vertices that have one
// (`list_parents`, `unite_pairs`). If there are many, or the graph is small, they pass on their whole forests (`join`).
//
// Races. In Afforest only compare-and-swap changes the parent of a root; threads that shorten paths change other
// parents only. A stale read finds a former ancestor, which is still one. In kernel 4 any store to next[x] may win: it
// names a root that is not stagnant, which no thread changes there. Stores to `marks` and `active` are of equal values.
//
// Launch. A thread for one, four or sixteen vertices; where the edges of 256 vertices are dealt to a block, a block for
// these. With fewer blocks, which only measurements ask for (Device.limited), each makes several passes.
//
// Cost. Afforest: seven passes over the vertices, each with a few random accesses to `parent`, and the edges outside
// the giant component. Shiloach and Vishkin: two passes over all edges a round, each with two random accesses or more.
//
// Sources. M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph
// sampling", 2018. J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation for GPUs",
// 2018: the first parents, and intermediate pointer jumping. Y. Shiloach, U. Vishkin, "An O(log n) parallel
// connectivity algorithm", 1982. F. Dehne, K. Yogaratnam, "Exploring the limits of GPUs with parallel graph
// algorithms", 2010.

#include "warp.cuh"
#include "bitmap.cuh"
#include "block.cuh"
#include "dealt.cuh"

constexpr int SAMPLED = 2;       // edges of a vertex that `sample` looks at
constexpr int PROBES = 1024;     // vertices that `largest` looks at
constexpr int FEW = 4;           // vertices of a thread in `compress`, so that enough reads are under way
constexpr int EACH = 16;         // the same in passes that read little of a vertex; a block adds up 4,096 in one atomic

// The root above v. Paths are split on the way: every vertex is moved to its grandparent.
__device__ __forceinline__ int root(int* parent, int v) {
    int above = parent[v];
    if (above == v) return v;
    for (int below = v, next; (next = parent[above]) != above; below = above, above = next) parent[below] = next;
    return above;
}

// Put u and v into one tree: the greater of their roots under the other.
__device__ __forceinline__ void unite(int* parent, int u, int v) {
    int a = root(parent, u), b = root(parent, v);
    while (a != b) {
        const int high = max(a, b), low = min(a, b);
        const int seen = atomicCAS(parent + high, high, low);
        if (seen == high) return;
        a = root(parent, seen);  // another thread came first
        b = low;
    }
}

// parent[v] = the first neighbour of v where it is smaller, else v.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) plant(const Offset* __restrict__ indptr, const int* __restrict__ indices,
                                                 int n, int lo, int hi, int* parent) {
#pragma unroll 1
    for (unsigned i = own(); i < n; i += stride()) {
        const int v = i;
        int above = v;
        if (v >= lo && v < hi) {
            const Offset first = indptr[v - lo];
            if (first < indptr[v - lo + 1]) above = min(v, indices[first]);
        }
        parent[v] = above;
    }
}

// Link each vertex with its first neighbours; `plant` has linked it with the very first if that is smaller.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) sample(const Offset* __restrict__ indptr, const int* __restrict__ indices,
                                                  int lo, int hi, int* parent) {
#pragma unroll 1
    for (unsigned i = own(); i < hi - lo; i += stride()) {
        const int v = lo + i;
        const Offset first = indptr[i], degree = indptr[i + 1] - first;
        const int few = degree < SAMPLED ? static_cast<int>(degree) : SAMPLED;
        for (int e = 0; e < few; ++e) {
            const int u = indices[first + e];
            if (e > 0 || u > v) unite(parent, v, u);
        }
    }
}

// parent[v] = the root above v, for the vertices [lo, hi).
__global__ void __launch_bounds__(THREADS) compress(int lo, int hi, int* parent) {
#pragma unroll 1
    for (unsigned base = blockIdx.x * THREADS * FEW; base < hi - lo; base += stride() * FEW) {
        int above[FEW], next[FEW];
#pragma unroll
        for (int k = 0; k < FEW; ++k) {
            const unsigned i = base + k * THREADS + threadIdx.x;
            above[k] = i < hi - lo ? parent[lo + i] : lo;
        }
#pragma unroll
        for (int k = 0; k < FEW; ++k) next[k] = parent[above[k]];
        // Each step is written, so that those below take it too: a long path is halved by all of its vertices at once.
#pragma unroll
        for (int k = 0; k < FEW; ++k) {
            const unsigned i = base + k * THREADS + threadIdx.x;
            if (i < hi - lo)
                for (; next[k] != above[k]; above[k] = next[k], next[k] = parent[above[k]]) parent[lo + i] = next[k];
        }
    }
}

// vertices[i] = the root above it.
__global__ void __launch_bounds__(THREADS) roots(int count, int* vertices, int* parent) {
#pragma unroll 1
    for (unsigned i = own(); i < count; i += stride()) vertices[i] = root(parent, vertices[i]);
}

// giant[0] = the most frequent root of the probed vertices of [lo, hi), the least of several; one block. The parents
// there are roots.
__global__ void __launch_bounds__(PROBES) largest(int lo, int hi, const int* __restrict__ parent, int* giant) {
    __shared__ int roots[PROBES];
    __shared__ unsigned long long best;
    // Multiples of the golden ratio are spread evenly.
    const unsigned place = threadIdx.x * 2654435769u;
    const int mine = parent[lo + (static_cast<unsigned long long>(place) * (hi - lo) >> 32)];
    roots[threadIdx.x] = mine;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    unsigned count = 0;
    for (int i = 0; i < PROBES; ++i) count += roots[i] == mine;
    atomicMax(&best, static_cast<unsigned long long>(count) << 32 | ~static_cast<unsigned>(mine));
    __syncthreads();
    if (threadIdx.x == 0) *giant = static_cast<int>(~static_cast<unsigned>(best));
}

// Link the vertices outside the component giant[0] with all their neighbours; -1 passes over none. A vertex that
// joins the giant component meanwhile may be passed over as well: it is there already.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) link(const Offset* __restrict__ indptr, const int* __restrict__ indices,
                                                int lo, int hi, const int* __restrict__ giant, int* parent) {
    const int skipped = *giant;
    each_edge(
        indptr, indices, lo, hi, [=](int v) { return parent[v] != skipped; },
        [=](int v, int u) { unite(parent, v, u); });
}

// The bit of each vertex of [lo, hi) whose parent is giant[0]; the giant's root has none. lo is a multiple of 32.
__global__ void __launch_bounds__(THREADS) members(int lo, int hi, const int* __restrict__ parent,
                                                   const int* __restrict__ giant, unsigned* bits) {
    const int top = *giant;
#pragma unroll 1
    for (unsigned base = blockIdx.x * THREADS * EACH; base < hi - lo; base += stride() * EACH) {
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const unsigned i = base + k * THREADS + threadIdx.x, v = lo + i;
            const unsigned word = __ballot_sync(ALL, i < hi - lo && v != top && parent[v] == top);
            if (threadIdx.x % 32 == 0 && i < hi - lo) bits[v / 32] = word;
        }
    }
}

// Unite the members of a giant component, that of the shard of the vertices [lo, hi), with its root giants[shard], if
// they are in a tree of several vertices: such a member has a parent, or is the root of one of the own vertices [first,
// last) that are no members themselves, or the root above another giant component.
__global__ void __launch_bounds__(THREADS) absorb(int first, int last, int lo, int hi,
                                                  const unsigned* __restrict__ bits, const int* __restrict__ giants,
                                                  int shards, int shard, int* parent) {
    const int top = giants[shard];
    const unsigned owned = last - first, all = owned + (hi - lo);
    const auto unite_member = [=](int v) {
        if (v >= lo && v < hi && has_bit(bits, static_cast<unsigned>(v))) unite(parent, v, top);
    };
    for (unsigned i = own(); i < shards; i += stride()) unite_member(root(parent, giants[i]));
#pragma unroll 1
    for (unsigned base = blockIdx.x * THREADS * EACH; base < all; base += stride() * EACH) {
        const unsigned mine = base + threadIdx.x;
        const auto vertex = [=](unsigned i) { return i < owned ? first + i : i < all ? lo + (i - owned) : 0; };
        int above[EACH];  // read whatever the bits are, so that many reads are under way at once
#pragma unroll
        for (int k = 0; k < EACH; ++k) above[k] = parent[vertex(mine + k * THREADS)];
        unsigned looked = 0;  // at the few that this leaves
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const unsigned i = mine + k * THREADS, v = vertex(i);
            if (i < all && above[k] != v && has_bit(bits, v) != (i < owned)) looked |= 1u << k;
        }
        for (; looked; looked &= looked - 1) {
            const unsigned i = mine + (__ffs(looked) - 1) * THREADS;
            const int v = vertex(i);
            unite_member(i < owned ? root(parent, v) : v);
        }
    }
}

// Append each vertex that is no member and no root, and its root, to `pairs` while there is room for `most`. count[0],
// which is 0 before, becomes how many there are.
__global__ void __launch_bounds__(THREADS) list_parents(int n, const unsigned* __restrict__ bits, int* parent, int most,
                                                        int2* pairs, int* count) {
    __shared__ int sums[WARPS], place;
#pragma unroll 1
    for (unsigned base = blockIdx.x * THREADS * EACH; base < n; base += stride() * EACH) {
        const unsigned first = base + threadIdx.x;
        int above[EACH];  // read whatever the bits are, so that many reads are under way at once
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const unsigned v = first + k * THREADS;
            above[k] = v < n ? parent[v] : v;
        }
        unsigned mine = 0;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const unsigned v = first + k * THREADS;
            if (v < n && above[k] != v && !has_bit(bits, v)) mine |= 1u << k;
        }
        int all, at = sum_before<THREADS>(__popc(mine), sums, &all);
        if (!all) continue;
        if (threadIdx.x == 0) place = atomicAdd(count, all);
        __syncthreads();
        for (at += place; mine; mine &= mine - 1, ++at) {
            const int v = first + (__ffs(mine) - 1) * THREADS;
            if (at < most) pairs[at] = make_int2(v, root(parent, v));
        }
    }
}

// Unite both vertices of each pair.
__global__ void __launch_bounds__(THREADS) unite_pairs(int count, const int2* __restrict__ pairs, int* parent) {
#pragma unroll 1
    for (unsigned i = own(); i < count; i += stride()) unite(parent, pairs[i].x, pairs[i].y);
}

// Add the trees of another forest.
__global__ void __launch_bounds__(THREADS) join(int n, const int* __restrict__ other, int* parent) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride())
        if (other[v] != v) unite(parent, v, other[v]);
}

// Kernel 1 of Shiloach and Vishkin: every vertex is a root, and nothing has happened to it.
__global__ void __launch_bounds__(THREADS) initialise(int n, int* parent, int* marks) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        parent[v] = v;
        marks[v] = 0;
    }
}

// Kernel 2: short-cut, and mark the roots that gained a vertex by it.
__global__ void __launch_bounds__(THREADS) shortcut_and_mark(int n, const int* __restrict__ parent, int* next,
                                                             int* marks, int round) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        const int above = parent[v], top = parent[above];
        next[v] = top;
        if (top != above) marks[top] = round;
    }
}

// Kernel 3: hook the roots whose trees have a smaller neighbour, and mark the roots they are hooked to. Only the thread
// whose hook succeeds marks: a tree that is marked without having grown would not be hooked as stagnant either, and
// there would be as many rounds as a star has leaves. An edge is looked at from both ends, wherever it is stored.
// `next` changes meanwhile: only a hook of a root that was just hooked is missed, and the thread then reads that root's
// new parent.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) hook(const Offset* __restrict__ indptr, const int* __restrict__ indices,
                                                int lo, int hi, const int* __restrict__ parent, int* next, int* marks,
                                                int round) {
    auto hooked = [=](int i, int j) {
        const int x = next[i], y = next[j];
        // Short-cutting did not move i: x was its root, and still is unless another thread was faster.
        if (y < x && x == parent[i] && next[x] == x && atomicCAS(next + x, x, y) == x) marks[y] = round;
    };
    each_edge(
        indptr, indices, lo, hi, [](int) { return true; },
        [=](int v, int u) {
            hooked(v, u);
            hooked(u, v);
        });
}

// Kernel 4: hook the stagnant roots. No two of their trees are neighbours, or the greater had been hooked.
template <typename Offset>
__global__ void __launch_bounds__(THREADS, 8)
    hook_stagnant(const Offset* __restrict__ indptr, const int* __restrict__ indices, int lo, int hi, int* next,
                  const int* __restrict__ marks, int round) {
    auto hooked = [=](int i, int j) {
        const int x = next[i], y = next[j];
        if (x != y && marks[x] < round && next[x] == x) next[x] = y;
    };
    each_edge(
        indptr, indices, lo, hi, [](int) { return true; },
        [=](int v, int u) {
            hooked(v, u);
            hooked(u, v);
        });
}

// Kernel 5: short-cut, and check whether anything has happened in this round.
__global__ void __launch_bounds__(THREADS) shortcut_and_check(int n, const int* __restrict__ next, int* parent,
                                                              const int* __restrict__ marks, int round, int* active) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        parent[v] = next[next[v]];
        if (marks[v] == round) *active = 1;
    }
}

// Kernel 6: count the roots among the vertices [lo, hi).
__global__ void __launch_bounds__(THREADS) count_roots(int lo, int hi, const int* __restrict__ parent, int* count) {
    __shared__ int sums[WARPS];
#pragma unroll 1
    for (unsigned base = blockIdx.x * THREADS * EACH; base < hi - lo; base += stride() * EACH) {
        int mine = 0;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const unsigned i = base + k * THREADS + threadIdx.x;
            mine += i < hi - lo && parent[lo + i] == lo + i;
        }
        int all;
        sum_before<THREADS>(mine, sums, &all);
        if (threadIdx.x == 0 && all) atomicAdd(count, all);
    }
}

// next[r] = the least vertex of the tree of the root r, where it was r; every vertex points to its root.
__global__ void __launch_bounds__(THREADS) least(int n, const int* __restrict__ parent, int* next) {
#pragma unroll 1
    for (unsigned i = own(); i < n; i += stride()) {
        const int v = i, top = parent[v];
        if (v < next[top]) atomicMin(next + top, v);  // a look first: one root may otherwise get millions of atomics
    }
}

// Name every vertex's parent anew.
__global__ void __launch_bounds__(THREADS) rename(int n, const int* __restrict__ names, int* parent) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) parent[v] = names[parent[v]];
}
