// Certificates: the rules that prove distances, predecessors, components and ranks, at all vertices and edges.
//
// Rules. An edge (u, v) of length w is checked by the sum d[u] + w. The rule "reached": if only u is reached, the sum
// is not within the limit. The rule "edge": d[v] is not greater than the sum. An edge is tight if d[v] is the sum. With
// predecessors, the tight edge from predecessor[v] marks v; without, one from a nearer vertex does. The rule "nearest",
// in a pass of its own: no tight edge leads from a vertex of a lesser nearest source, and one from a nearer vertex of
// the same marks v. The other rules are those of vertices. For components, the ends of an edge have equal labels, and
// are put into one tree of a forest. Of lists, the last element has rank 0, and any other one more than its successor.
//
// Independence. A fault of a kernel that solves must not hide in its proof. So nothing here is shared with one, not
// even how edges are dealt to threads: each block takes as many consecutive edges as any other, and a thread finds its
// edge's row by bisection between the rows of the block's first and last edge.
//
// Encoding. Numbers are compared by their keys: integers in the same order, of floats their bits, of which negative
// ones are turned round. -0 and 0 have one key, and a unit in the last place is 1. NaN lies beyond both infinities and
// is ordered with nothing. CuPy compiles with -ftz, by which tiny floats would become 0 in sums, products, conversions
// and comparisons; the instructions here are written out, and give the bits that a CPU gives. Integers are added in 64
// bits.
//
// least[k] is the least vertex that breaks the k-th rule. Vectors may hold anything: an index is checked before it is
// used, unless a rule that holds already has checked it.
//
// Forest. parent[v] <= v, so that no interleaving of threads makes a cycle, and the root is the tree's least vertex.
// Only compare-and-swap changes the parent of a root.
//
// Races. All threads write the same mark. A vertex above another may be read before or after it is doubled: after k
// passes it is at least 2^k steps ahead, or the end.
//
// Cost. One read of each edge and its weight, and of one number at random an edge: distances of 2^22 vertices fit the
// second cache of a GPU of 2022.
//
// Sources. Graph500 benchmark specification, "Validation". R. E. Tarjan, J. van Leeuwen, "Worst-case analysis of set
// union algorithms", 1984: halved paths. J. JaJa, "An introduction to parallel algorithms", 1992: doubling.

constexpr int THREADS = 256;
constexpr int TILE = 8 * THREADS;  // edges that a block takes at a time
constexpr int SAMPLED = 2;         // edges of a vertex that `join_first` looks at
constexpr int NONE = -9999;        // no predecessor

using Wide = long long;

// Numbers of type T: how their sums are computed, and the keys by which they are compared.
template <typename T> struct Number {  // int and long long
    static constexpr bool exact = true;
    using Sum = Wide;
    static __device__ Wide key(Wide x) { return x; }
    static __device__ bool ordered(Wide) { return true; }
    static __device__ bool infinite(Wide) { return false; }
    static __device__ Wide plus(Wide a, Wide b) {
        return static_cast<Wide>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
    }
    template <typename W> static __device__ Wide of(W x) { return x; }
    static __device__ Wide scaled(Wide, Wide) { return 0; }
    static __device__ Wide negative(Wide x) { return -x; }
};
template <> struct Number<float> {
    static constexpr bool exact = false;
    using Sum = float;
    static constexpr Wide INFINITE = 0x7f800000;
    static __device__ Wide key(float x) {
        const int bits = __float_as_int(x);
        return bits < 0 ? -static_cast<Wide>(bits & 0x7fffffff) : bits;
    }
    static __device__ bool ordered(Wide key) { return -INFINITE <= key && key <= INFINITE; }
    static __device__ bool infinite(Wide key) { return key == INFINITE || key == -INFINITE; }
    static __device__ float plus(float a, float b) {
        float sum;
        asm("add.rn.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
        return sum;
    }
    static __device__ float of(float x) { return x; }
    static __device__ float of(double x) {
        float near;
        asm("cvt.rn.f32.f64 %0, %1;" : "=f"(near) : "d"(x));
        return near;
    }
    static __device__ float of(int x) { return __int2float_rn(x); }
    static __device__ float of(Wide x) { return __ll2float_rn(x); }
    static __device__ float scaled(float x, float by) {
        float product;
        asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(__int_as_float(__float_as_int(x) & 0x7fffffff)), "f"(by));
        return product;
    }
    static __device__ float negative(float x) { return __int_as_float(__float_as_int(x) ^ 0x80000000); }
};
template <> struct Number<double> {
    static constexpr bool exact = false;
    using Sum = double;
    static constexpr Wide INFINITE = 0x7ff0000000000000LL, MAGNITUDE = 0x7fffffffffffffffLL;
    static __device__ Wide key(double x) {
        const Wide bits = __double_as_longlong(x);
        return bits < 0 ? -(bits & MAGNITUDE) : bits;
    }
    static __device__ bool ordered(Wide key) { return -INFINITE <= key && key <= INFINITE; }
    static __device__ bool infinite(Wide key) { return key == INFINITE || key == -INFINITE; }
    static __device__ double plus(double a, double b) { return __dadd_rn(a, b); }
    static __device__ double of(float x) {
        double wide;
        asm("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(x));
        return wide;
    }
    static __device__ double of(double x) { return x; }
    static __device__ double of(int x) { return x; }
    static __device__ double of(Wide x) { return __ll2double_rn(x); }
    static __device__ double scaled(double x, double by) { return __dmul_rn(fabs(x), by); }
    static __device__ double negative(double x) { return -x; }
};

// The least and the greatest key to accept of a sum, which may be no number.
struct Bounds {
    Wide low, high;
    bool ordered;
};

template <typename D>
__device__ __forceinline__ Bounds bounds(typename Number<D>::Sum before, typename Number<D>::Sum length, int ulps,
                                         typename Number<D>::Sum rounding) {
    using N = Number<D>;
    const auto sum = N::plus(before, length);
    const Wide key = N::key(sum);
    Bounds found = {key, key, N::ordered(key)};
    if (!N::exact && found.ordered) {
        if (ulps) {
            if (N::ordered(key - 1)) --found.low;  // infinity has no next number
            if (N::ordered(key + 1)) ++found.high;
        }
        if (rounding != 0 && !N::infinite(key)) {
            const auto margin = N::scaled(sum, rounding);
            found.low = min(found.low, N::key(N::plus(sum, N::negative(margin))));
            found.high = max(found.high, N::key(N::plus(sum, margin)));
        }
    }
    return found;
}

__device__ __forceinline__ unsigned own() { return blockIdx.x * THREADS + threadIdx.x; }
__device__ __forceinline__ unsigned stride() { return gridDim.x * THREADS; }

__device__ __forceinline__ void lower(int* least, int vertex) {
    if (vertex < *reinterpret_cast<volatile int*>(least)) atomicMin(least, vertex);  // a look first: many may be wrong
}

// The last of the rows `low` to `high`, this one excluded, that begins at an edge or before it.
template <typename Offset>
__device__ __forceinline__ int row_of(const Offset* __restrict__ indptr, int low, int high, Wide e) {
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (indptr[middle] <= e)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Call visit(row, e) for every edge e of some rows, once.
template <typename Offset, typename Visit>
__device__ __forceinline__ void each(const Offset* __restrict__ indptr, int rows, Visit visit) {
    __shared__ int ends[2];
    const Wide edges = indptr[rows];
#pragma unroll 1
    for (Wide begin = static_cast<Wide>(blockIdx.x) * TILE; begin < edges;
         begin += static_cast<Wide>(gridDim.x) * TILE) {
        const Wide end = min(begin + TILE, edges);
        if (threadIdx.x < 2) ends[threadIdx.x] = row_of(indptr, 0, rows, threadIdx.x ? end - 1 : begin);
        __syncthreads();
        const int first = ends[0], last = ends[1];
        __syncthreads();  // the ends may be written again
#pragma unroll 1
        for (Wide e = begin + threadIdx.x; e < end; e += THREADS) visit(row_of(indptr, first, last + 1, e), e);
    }
}

// The rules "source", "limit" and "tree" at the vertices [lo, hi).
template <typename D>
__global__ void __launch_bounds__(THREADS) check_vertices(const D* __restrict__ distances,
                                                          const int* __restrict__ predecessors,
                                                          const unsigned char* __restrict__ starts, int n, int lo,
                                                          int hi, D unreached, typename Number<D>::Sum most,
                                                          int* least) {
    using N = Number<D>;
    const Wide never = N::key(unreached);
#pragma unroll 1
    for (unsigned i = own(); i < hi - lo; i += stride()) {
        const int v = lo + i;
        const Wide d = N::key(distances[v]);
        const bool reached = d != never;
        if (reached && N::ordered(d) && d > N::key(most)) lower(least + 1, v);
        const int above = predecessors ? predecessors[v] : NONE;
        if (starts[v]) {
            if (d != 0 || above != NONE) lower(least, v);
        } else if (predecessors) {
            const bool right =
                reached ? above >= 0 && above < n && N::key(distances[above]) != never : above == NONE;
            if (!right) lower(least + 2, v);
        }
    }
}

// Whether a source is the nearest of each reached vertex of [lo, hi), and none of another; mark those of themselves.
template <typename D>
__global__ void __launch_bounds__(THREADS) check_sources(const D* __restrict__ distances,
                                                         const int* __restrict__ nearest,
                                                         const unsigned char* __restrict__ starts, int n, int lo,
                                                         int hi, D unreached, unsigned char* own_nearest, int* least) {
    using N = Number<D>;
#pragma unroll 1
    for (unsigned i = own(); i < hi - lo; i += stride()) {
        const int v = lo + i, near = nearest[v];
        const bool reached = N::key(distances[v]) != N::key(unreached);
        const bool right = reached ? near >= 0 && near < n && starts[near] && !(starts[v] && near > v) : near == NONE;
        if (!right) lower(least, v);
        own_nearest[v] = starts[v] && near == v;
    }
}

// Whether predecessors are nearer than the vertices [lo, hi).
template <typename D>
__global__ void __launch_bounds__(THREADS) check_nearer(const D* __restrict__ distances,
                                                        const int* __restrict__ predecessors,
                                                        const unsigned char* __restrict__ starts, int lo, int hi,
                                                        int* least) {
    using N = Number<D>;
#pragma unroll 1
    for (unsigned i = own(); i < hi - lo; i += stride()) {
        const int v = lo + i, above = predecessors[v];
        if (above == NONE || starts[v]) continue;
        const Wide before = N::key(distances[above]), after = N::key(distances[v]);
        if (!(N::ordered(before) && N::ordered(after) && before < after)) lower(least, v);
    }
}

// above[v] = the predecessor of v, or v where there is none.
__global__ void __launch_bounds__(THREADS) climb(int n, const int* __restrict__ predecessors,
                                                 const unsigned char* __restrict__ starts, int* above) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride())
        above[v] = starts[v] || predecessors[v] == NONE ? v : predecessors[v];
}

// above[v] = what is above the vertex above v.
__global__ void __launch_bounds__(THREADS) double_steps(int n, int* above, int* active) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) {
        const int once = above[v], twice = above[once];
        if (once == twice) continue;
        above[v] = twice;
        *active = 1;
    }
}

// The rule "cycle" at the vertices [lo, hi).
__global__ void __launch_bounds__(THREADS) check_roots(const int* __restrict__ predecessors,
                                                       const int* __restrict__ above,
                                                       const unsigned char* __restrict__ starts, int lo, int hi,
                                                       int* least) {
#pragma unroll 1
    for (unsigned i = own(); i < hi - lo; i += stride())
        if (predecessors[lo + i] != NONE && !starts[above[lo + i]]) lower(least, lo + i);
}

// The rules "reached" and "edge", and marks of what edges prove. Rows are the vertices from `first` on: the sources of
// their edges if `by_source`, else the targets. `weights` and `predecessors` may be null.
template <typename D, typename W, typename Offset>
__global__ void __launch_bounds__(THREADS)
    check_edges(const Offset* __restrict__ indptr, const int* __restrict__ indices, const W* __restrict__ weights,
                int rows, int first, bool by_source, const D* __restrict__ distances,
                const int* __restrict__ predecessors, D unreached, typename Number<D>::Sum most, bool nonnegative,
                int ulps, typename Number<D>::Sum rounding, unsigned char* proven, unsigned char* tight, int* least) {
    using N = Number<D>;
    const Wide never = N::key(unreached), limit = N::key(most);
    each(indptr, rows, [=](int row, Wide e) {
        const int here = first + row, there = indices[e];
        const int u = by_source ? here : there, v = by_source ? there : here;
        const D from = distances[u];
        const Wide before = N::key(from), after = N::key(distances[v]);
        if (before == never) return;
        // An unreached vertex: sums in another order than the search's may have exceeded the limit, others not.
        const int around = after == never ? 0 : ulps;
        const Bounds sum = bounds<D>(from, weights ? N::of(weights[e]) : N::of(1), around, rounding);
        if (!sum.ordered) return;
        if (after == never) {
            const bool never_ends = N::infinite(sum.high) && sum.high > 0;  // -infinity is within any limit
            if (sum.high <= limit && !never_ends) lower(least, v);
        } else if (!N::ordered(after)) {
            return;
        } else if (after > sum.high) {
            lower(least + 1, v);
        } else if (sum.low <= after && (before <= after || !nonnegative)) {
            const int place = by_source ? v : row;
            if (predecessors) {
                if (u == predecessors[v]) proven[place] = 1;
                return;
            }
            if (!tight[place]) tight[place] = 1;
            if (nonnegative && before < after && !proven[place]) proven[place] = 1;
        }
    });
}

// The rule "nearest" at edges, and marks of vertices with a tight one from a nearer vertex of the same nearest source.
template <typename D, typename W, typename Offset>
__global__ void __launch_bounds__(THREADS)
    check_nearest(const Offset* __restrict__ indptr, const int* __restrict__ indices, const W* __restrict__ weights,
                  int rows, int first, bool by_source, const D* __restrict__ distances,
                  const int* __restrict__ nearest, D unreached, bool nonnegative, unsigned char* proven, int* least) {
    using N = Number<D>;
    const Wide never = N::key(unreached);
    each(indptr, rows, [=](int row, Wide e) {
        const int here = first + row, there = indices[e];
        const int u = by_source ? here : there, v = by_source ? there : here;
        const D from = distances[u];
        const Wide before = N::key(from), after = N::key(distances[v]);
        if (before == never || after == never || (nonnegative && after < before)) return;
        const Bounds sum = bounds<D>(from, weights ? N::of(weights[e]) : N::of(1), 0, 0);
        if (!sum.ordered || sum.low != after) return;
        const int place = by_source ? v : row;
        if (nearest[u] < nearest[v])
            lower(least, v);
        else if (nearest[u] == nearest[v] && nonnegative && before < after && !proven[place])
            proven[place] = 1;
    });
}

// The reached vertices of [lo, hi) without a mark, but for sources; proven[0] is that of lo.
template <typename D>
__global__ void __launch_bounds__(THREADS) check_marks(const D* __restrict__ distances,
                                                       const unsigned char* __restrict__ starts, int lo, int hi,
                                                       D unreached, const unsigned char* __restrict__ proven,
                                                       int* least) {
    using N = Number<D>;
#pragma unroll 1
    for (unsigned i = own(); i < hi - lo; i += stride())
        if (!proven[i] && !starts[lo + i] && N::key(distances[lo + i]) != N::key(unreached)) lower(least, lo + i);
}

// Add the number of tight edges to vertices without a mark to *count, and write as many as there is room for.
template <typename D, typename W, typename Offset>
__global__ void __launch_bounds__(THREADS)
    list_ties(const Offset* __restrict__ indptr, const int* __restrict__ indices, const W* __restrict__ weights,
              int rows, int first, bool by_source, const D* __restrict__ distances, const int* __restrict__ nearest,
              D unreached, bool nonnegative, int ulps, typename Number<D>::Sum rounding,
              const unsigned char* __restrict__ proven, unsigned long long* count, int* src, int* dst, Wide room) {
    using N = Number<D>;
    const Wide never = N::key(unreached);
    each(indptr, rows, [=](int row, Wide e) {
        const int here = first + row, there = indices[e];
        const int u = by_source ? here : there, v = by_source ? there : here;
        if (proven[by_source ? v : row] || u == v || (nearest && nearest[u] != nearest[v])) return;
        const D from = distances[u];
        const Wide before = N::key(from), after = N::key(distances[v]);
        if (before == never || after == never || !N::ordered(after)) return;
        const Bounds sum = bounds<D>(from, weights ? N::of(weights[e]) : N::of(1), ulps, rounding);
        if (!sum.ordered || after < sum.low || after > sum.high || (nonnegative && after < before)) return;
        const unsigned long long place = atomicAdd(count, 1ull);
        if (place < room) {
            src[place] = u;
            dst[place] = v;
        }
    });
}

// The rule "label" at the vertices [lo, hi); those with their own number are added to *roots.
__global__ void __launch_bounds__(THREADS) check_labels(const int* __restrict__ labels, int lo, int hi, int* least,
                                                        int* roots) {
#pragma unroll 1
    for (unsigned base = blockIdx.x * THREADS; base < hi - lo; base += stride()) {
        const int v = lo + base + threadIdx.x;
        const int label = v < hi ? labels[v] : -1;
        if (v < hi && (label < 0 || label > v || labels[label] != label)) lower(least, v);
        const int found = __syncthreads_count(v < hi && label == v);
        if (threadIdx.x == 0 && found) atomicAdd(roots, found);
    }
}

// The root of a vertex; the path to it is halved.
__device__ __forceinline__ int root(int* parent, int v) {
    for (int above; (above = parent[v]) != v;) {
        const int top = parent[above];
        if (top != above) parent[v] = top;
        v = top;
    }
    return v;
}

// Put two vertices into one tree: the greater of their roots gets the other for its parent.
__device__ __forceinline__ void unite(int* parent, int u, int v) {
    u = root(parent, u);
    v = root(parent, v);
    while (u != v) {
        const int high = max(u, v), low = min(u, v);
        if (atomicCAS(parent + high, high, low) == high) return;
        u = root(parent, high);  // another thread was faster
        v = low;
    }
}

// Unite each row's vertex with its first neighbours.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) join_first(const Offset* __restrict__ indptr,
                                                      const int* __restrict__ indices, int rows, int first,
                                                      int* parent) {
#pragma unroll 1
    for (unsigned row = own(); row < rows; row += stride()) {
        const Offset begin = indptr[row], end = indptr[row + 1];
        for (Offset e = begin; e < end && e < begin + SAMPLED; ++e) unite(parent, first + row, indices[e]);
    }
}

// parent[v] = the root of v.
__global__ void __launch_bounds__(THREADS) flatten(int n, int* parent) {
    // Each step is written, so that those below take it too. Only v's own parent is: others may be at their root.
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride())
        for (int above = parent[v], top; (top = parent[above]) != above; above = top) parent[v] = top;
}

// Unite each vertex with other[v].
__global__ void __launch_bounds__(THREADS) join(int n, const int* __restrict__ other, int* parent) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride()) unite(parent, v, other[v]);
}

// codes[v] = the label of v, inverted where v is not in the tree of its label's vertex.
__global__ void __launch_bounds__(THREADS) mark_joined(int n, const int* __restrict__ labels,
                                                       const int* __restrict__ parent, int* codes) {
#pragma unroll 1
    for (unsigned v = own(); v < n; v += stride())
        codes[v] = parent[v] == parent[labels[v]] ? labels[v] : ~labels[v];
}

// The rule "edge"; the ends of an edge are united unless both are in the tree of their label's vertex.
template <typename Offset>
__global__ void __launch_bounds__(THREADS) check_across(const Offset* __restrict__ indptr,
                                                        const int* __restrict__ indices, int rows, int first,
                                                        const int* __restrict__ codes, int* parent, int* least) {
    each(indptr, rows, [=](int row, Wide e) {
        const int u = first + row, v = indices[e], one = codes[u], two = codes[v];
        if (one == two && one >= 0) return;
        if (max(one, ~one) != max(two, ~two))
            lower(least, max(u, v));
        else
            unite(parent, u, v);
    });
}

// The rule "connected" at the vertices [lo, hi) of a flat forest.
__global__ void __launch_bounds__(THREADS) check_joined(const int* __restrict__ labels, const int* __restrict__ parent,
                                                        int lo, int hi, int* least) {
#pragma unroll 1
    for (unsigned i = own(); i < hi - lo; i += stride())
        if (parent[lo + i] != parent[labels[lo + i]]) lower(least, lo + i);
}

// The ranks of the elements from `first` on, whose successors are `succ`.
template <typename S, typename R>
__global__ void __launch_bounds__(THREADS) check_ranks(const S* __restrict__ succ, Wide elements, Wide first,
                                                       const R* __restrict__ ranks, Wide n, Wide* least) {
#pragma unroll 1
    for (Wide i = own(); i < elements; i += stride()) {
        const Wide v = first + i, next = succ[i];
        const bool inside = next >= 0 && next < n;
        const bool right = inside && ranks[v] == (next == v ? 0 : static_cast<Wide>(ranks[next]) + 1);
        if (!right && v < *reinterpret_cast<volatile Wide*>(least)) atomicMin(least, v);
    }
}
