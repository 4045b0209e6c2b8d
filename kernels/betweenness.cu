// Betweenness: for each vertex or edge, the pairs of vertices whose shortest paths pass it, by share of these paths.
//
// Algorithm. Brandes (2001). For a source s, let c[v] be the number of shortest paths to v. An edge (u, v) is tight if
// it is on one of them: if its length, added to the distance of u, is the distance of v. Then c[v] is the sum of c[u]
// over the tight edges into v. The dependency of s on u, the sum over all targets t of the share of the paths from s to
// t that pass u, is
//
//   d[u] = c[u] * sum of x[v] over the tight edges (u, v),      x[v] = (d[v] + 1 if v is a target) / c[v]
//
// and that on the edge is c[u] * x[v]. Betweenness is the sum of d over all sources.
//
// A block takes a source (Jia, Lu, Hoberock, Garland and Hart 2011; McLaughlin and Bader 2014). `levels` searches from
// it breadth first: the vertices of a level are pushed to a queue, then each gathers its c from the level before. The
// queue is read backwards to gather d. `tight` is given distances by weights, and takes the vertices in the order of
// Kahn (1962): each waits for as many vertices as have tight edges to it, and those that need wait for no more make the
// next level. So both need as many barriers of a block as the longest shortest path has edges. `add` and `add_edges`
// sum up what the sources of a batch contribute.
//
// Numbers of paths. They grow beyond float64 in large grids. Then rows are WIDE: a number of paths is c * 2^exponent.
// Without, a number beyond LARGE is reported, as is a distance that no edge explains, because its length was lost in
// rounding (`trouble`). A sum must be more than both its parts' distances, so that tight edges close no cycle.
//
// Encoding. Rows of n, or of 2 n + 2 for `work`, one for each source of the batch. `work` has where each level begins
// in `order`, and behind that for how many vertices each one waits. Distances of vertices out of reach are the type's
// infinity. Edges are by source (out_*) and by target (in_*), no two between the same vertices.
//
// Cost. `levels` reads each edge of the vertices within reach three times, `tight` four times, at random. A vertex is
// taken by 8 lanes; one with more than LONG edges by the whole block. Every loop over levels ends, as each level takes
// vertices that no other one has.
//
// Races. A vertex is pushed by the one thread that sets its distance, or that is the last for which it waits. The order
// within a level differs from run to run. All sums are gathered, each in the same order, so that results do not.
//
// Sources. U. Brandes, "A faster algorithm for betweenness centrality", 2001. A. B. Kahn, "Topological sorting of large
// networks", 1962. Y. Jia, V. Lu, J. Hoberock, M. Garland, J. C. Hart, "Edge v. node parallelism for graph centrality
// metrics", 2011. A. McLaughlin, D. A. Bader, "Scalable and high performance betweenness centrality on the GPU", 2014.

#include "warp.cuh"

constexpr int THREADS = 1024;
constexpr int LANES = 8;     // that take a vertex together
constexpr int LONG = 1024;   // edges beyond which the block does
constexpr double LARGE = 0x1p1000;
constexpr int TOO_MANY = 0, LOST = 1;

using Index = unsigned long long;

__device__ __forceinline__ int infinity_of(int) { return 0x7fffffff; }
__device__ __forceinline__ double infinity_of(double) { return __longlong_as_double(0x7ff0000000000000LL); }

// The lengths of edges that all count 1.
struct Unit {
    using Type = int;
    __device__ __forceinline__ int operator[](Index) const { return 1; }
};

template <typename T> struct Lengths {
    using Type = T;
    const T* at;
    __device__ __forceinline__ T operator[](Index e) const { return at[e]; }
};

// Whether an edge of this length is on a shortest path between vertices at these distances.
template <typename T> __device__ __forceinline__ bool is_tight(T from, T length, T to) {
    if (from == infinity_of(T()) || to == infinity_of(T())) return false;
    const T there = from + length;
    return there == to && from < there;
}

// A number of paths, as a sum of such: a float, or scaled.
template <bool WIDE> struct Paths;

template <> struct Paths<false> {
    double value = 0;
    __device__ __forceinline__ void add(const Paths& other) { value += other.value; }
    __device__ __forceinline__ Paths across(int distance) const { return {__shfl_xor_sync(ALL, value, distance)}; }
};

template <> struct Paths<true> {
    double value = 0;
    int exponent = 0;
    __device__ __forceinline__ void add(const Paths& other) {
        if (other.value == 0) return;
        const int shift = value == 0 ? 1 : other.exponent - exponent;
        if (value == 0) {
            *this = other;
        } else if (shift > 0) {
            value = other.value + ldexp(value, -shift);
            exponent = other.exponent;
        } else {
            value += ldexp(other.value, shift);
        }
    }
    __device__ __forceinline__ Paths across(int distance) const {
        return {__shfl_xor_sync(ALL, value, distance), __shfl_xor_sync(ALL, exponent, distance)};
    }
};

using Plain = Paths<false>;

// The rows of one source.
template <typename T, bool WIDE> struct Row {
    T* distance;
    int* order;
    int* starts;   // of each level in `order`
    int* waits;    // for this number of vertices
    double* counts;
    int* exponents;
    double* depends;
    double* shares;

    __device__ Row(int n, T* distances, int* orders, int* work, double* counts, int* exponents, double* depends,
                   double* shares) {
        const Index row = static_cast<Index>(blockIdx.x) * n;
        distance = distances + row, order = orders + row, this->counts = counts + row;
        this->depends = depends + row, this->shares = shares + row;
        this->exponents = WIDE ? exponents + row : nullptr;
        starts = work + static_cast<Index>(blockIdx.x) * (2 * static_cast<Index>(n) + 2);
        waits = starts + n + 2;
    }
    __device__ __forceinline__ Paths<WIDE> paths(int v) const {
        if constexpr (WIDE)
            return {counts[v], exponents[v]};
        else
            return {counts[v]};
    }
};

// For each of some vertices, take(v, sum of term(v, e) over its edges e): the vertices order[begin] to order[end - 1],
// or those of these numbers without an order. All threads of the block call this, and see after it what was taken.
template <typename Sum, typename Offset, typename Term, typename Take>
__device__ void gather(const Offset* __restrict__ indptr, const int* order, int begin, int end, Term term, Take take) {
    __shared__ int found, listed[THREADS];
    __shared__ Sum parts[THREADS / 32];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    for (int base = begin; base < end; base += THREADS / LANES) {
        const int place = base + threadIdx.x / LANES;
        const int v = place >= end ? -1 : order ? order[place] : place;
        Offset e = 0, last = 0;
        if (v >= 0) e = indptr[v], last = indptr[v + 1];
        const bool is_long = last - e > LONG;
        if (is_long) found = 1, e = last;
        Sum sum{};
        for (e += lane; e < last; e += LANES) sum.add(term(v, e));
#pragma unroll
        for (int distance = 1; distance < LANES; distance *= 2) sum.add(sum.across(distance));
        if (lane == 0 && v >= 0 && !is_long) take(v, sum);
    }
    __syncthreads();
    const bool some = found;
    for (int base = begin; some && base < end; base += THREADS) {
        __syncthreads();
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        const int place = base + threadIdx.x, v = place >= end ? -1 : order ? order[place] : place;
        if (v >= 0 && indptr[v + 1] - indptr[v] > LONG) listed[atomicAdd(&found, 1)] = v;
        __syncthreads();
        for (int k = 0; k < found; ++k) {
            const int u = listed[k];
            Sum sum{};
            for (Offset e = indptr[u] + threadIdx.x; e < indptr[u + 1]; e += THREADS) sum.add(term(u, e));
#pragma unroll
            for (int distance = 1; distance < 32; distance *= 2) sum.add(sum.across(distance));
            if (threadIdx.x % 32 == 0) parts[warp] = sum;
            __syncthreads();
            if (threadIdx.x == 0) {
                for (int w = 1; w < THREADS / 32; ++w) sum.add(parts[w]);
                take(u, sum);
            }
            __syncthreads();
        }
    }
    __syncthreads();
}

// Count the paths to the vertices of a level, from the tight edges into them.
template <typename T, bool WIDE, typename Offset, typename Values>
__device__ void count(const Row<T, WIDE>& row, const Offset* in_indptr, const int* in_indices, Values lengths,
                      int begin, int end) {
    gather<Paths<WIDE>>(
        in_indptr, row.order, begin, end,
        [&](int v, Offset e) {
            const int u = in_indices[e];
            return is_tight<T>(row.distance[u], lengths[e], row.distance[v]) ? row.paths(u) : Paths<WIDE>{};
        },
        [&](int v, Paths<WIDE> sum) {
            if constexpr (WIDE) {
                int shift;
                sum.value = frexp(sum.value, &shift);
                row.exponents[v] = sum.exponent + shift;
            }
            row.counts[v] = sum.value;
        });
}

// Gather the dependencies of all levels, the last one first.
template <typename T, bool WIDE, typename Offset, typename Values>
__device__ void depend(const Row<T, WIDE>& row, const Offset* out_indptr, const int* out_indices, Values lengths,
                       int levels, int source, const bool* targets, int* trouble) {
    for (int level = levels - 1; level >= 0; --level)
        gather<Plain>(
            out_indptr, row.order, row.starts[level], row.starts[level + 1],
            [&](int u, Offset e) {
                const int v = out_indices[e];
                if (!is_tight<T>(row.distance[u], lengths[e], row.distance[v])) return Plain{};
                if constexpr (WIDE)
                    return Plain{ldexp(row.shares[v], row.exponents[u] - row.exponents[v])};
                else
                    return Plain{row.shares[v]};
            },
            [&](int u, const Plain& sum) {
                const double paths = row.counts[u], passing = paths * sum.value;
                if (!(paths <= LARGE)) trouble[TOO_MANY] = 1;
                row.depends[u] = passing;
                row.shares[u] = (passing + (targets[u] && u != source)) / paths;
            });
}

// Begin with the source alone.
template <typename T, bool WIDE> __device__ void begin_with(const Row<T, WIDE>& row, int source, int* tail) {
    __syncthreads();
    if (threadIdx.x == 0) {
        row.counts[source] = WIDE ? 0.5 : 1;
        if constexpr (WIDE) row.exponents[source] = 1;
        row.order[0] = source, row.starts[0] = 0, row.starts[1] = 1, *tail = 1;
    }
    __syncthreads();
}

template <typename Offset, bool WIDE>
__global__ void __launch_bounds__(THREADS, WIDE ? 1 : 2)
    levels(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices,
           const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, int n,
           const int* __restrict__ sources, const bool* __restrict__ targets, int limit, int* distances, int* orders,
           int* work, double* counts, int* exponents, double* depends, double* shares, int* trouble) {
    __shared__ int tail;
    const Row<int, WIDE> row(n, distances, orders, work, counts, exponents, depends, shares);
    const int source = sources[blockIdx.x], far = infinity_of(0);
    for (int v = threadIdx.x; v < n; v += THREADS)
        row.distance[v] = v == source ? 0 : far, row.counts[v] = 0, row.depends[v] = 0;
    begin_with(row, source, &tail);
    int level = 0;  // the vertices of this level have been counted
    for (int begin = 0, end = 1; begin < end; begin = end, end = row.starts[++level + 1]) {
        if (level < limit)
            gather<Plain>(
                out_indptr, row.order, begin, end,
                [&](int, Offset e) {
                    const int v = out_indices[e];
                    if (row.distance[v] == far && atomicCAS(row.distance + v, far, level + 1) == far)
                        row.order[atomicAdd(&tail, 1)] = v;
                    return Plain{};
                },
                [](int, const Plain&) {});
        const int found = tail;
        if (threadIdx.x == 0) row.starts[level + 2] = found;
        __syncthreads();
        count(row, in_indptr, in_indices, Unit{}, end, found);
    }
    depend(row, out_indptr, out_indices, Unit{}, level, source, targets, trouble);
}

template <typename Offset, typename T, bool WIDE>
__global__ void __launch_bounds__(THREADS, 1)
    tight(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices, const T* __restrict__ out_lengths,
          const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, const T* __restrict__ in_lengths,
          int n, const int* __restrict__ sources, const bool* __restrict__ targets, T* distances, int* orders,
          int* work, double* counts, int* exponents, double* depends, double* shares, int* trouble) {
    __shared__ int tail, lost;
    const Row<T, WIDE> row(n, distances, orders, work, counts, exponents, depends, shares);
    const Lengths<T> outgoing{out_lengths}, incoming{in_lengths};
    const int source = sources[blockIdx.x];
    if (threadIdx.x == 0) lost = 0;
    for (int v = threadIdx.x; v < n; v += THREADS) row.counts[v] = 0, row.depends[v] = 0;
    begin_with(row, source, &tail);
    gather<Plain>(
        in_indptr, nullptr, 0, n,
        [&](int v, Offset e) {
            return Plain{is_tight<T>(row.distance[in_indices[e]], incoming[e], row.distance[v]) ? 1.0 : 0.0};
        },
        [&](int v, const Plain& sum) {
            row.waits[v] = static_cast<int>(sum.value);
            if (sum.value == 0 && v != source && row.distance[v] != infinity_of(T())) lost = 1;
        });
    if (lost) {
        if (threadIdx.x == 0) trouble[LOST] = 1;
        return;
    }
    int level = 0;
    for (int begin = 0, end = 1; begin < end; begin = end, end = row.starts[++level + 1]) {
        gather<Plain>(
            out_indptr, row.order, begin, end,
            [&](int u, Offset e) {
                const int v = out_indices[e];
                if (is_tight<T>(row.distance[u], outgoing[e], row.distance[v]) && atomicSub(row.waits + v, 1) == 1)
                    row.order[atomicAdd(&tail, 1)] = v;
                return Plain{};
            },
            [](int, const Plain&) {});
        const int found = tail;
        if (threadIdx.x == 0) row.starts[level + 2] = found;
        __syncthreads();
        count(row, in_indptr, in_indices, incoming, end, found);
    }
    depend(row, out_indptr, out_indices, outgoing, level, source, targets, trouble);
}

// Add the dependencies of k sources on each vertex, in their order.
__global__ void __launch_bounds__(THREADS)
    add(int n, int k, const int* __restrict__ sources, const bool* __restrict__ targets, bool endpoints,
        const double* __restrict__ counts, const double* __restrict__ depends, double* sums) {
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v >= n) return;
    double sum = sums[v];
    for (int i = 0; i < k; ++i) {
        const Index at = static_cast<Index>(i) * n + v;
        if (v != sources[i])
            sum += depends[at] + (endpoints && targets[v] && counts[at] > 0);
        else if (endpoints)
            sum += rint(depends[at]);  // the number of targets within reach
    }
    sums[v] = sum;
}

// The same for each edge: a thread takes one.
template <typename Offset, typename T, bool WIDE, typename Values>
__device__ void add_each(const Offset* indptr, const int* indices, Values lengths, int n, Index m, int k,
                         const T* distances, const double* counts, const int* exponents, const double* shares,
                         double* sums) {
    const Index e = static_cast<Index>(blockIdx.x) * THREADS + threadIdx.x;
    if (e >= m) return;
    int u = 0, last = n - 1;  // the row of the edge, the last one that begins at it or before
    while (u < last) {
        const int middle = u + (last - u + 1) / 2;
        if (static_cast<Index>(indptr[middle]) <= e)
            u = middle;
        else
            last = middle - 1;
    }
    const int v = indices[e];
    const T length = lengths[e];
    double sum = sums[e];
    for (int i = 0; i < k; ++i) {
        const Index row = static_cast<Index>(i) * n;
        if (!is_tight<T>(distances[row + u], length, distances[row + v])) continue;
        double share = shares[row + v];
        if constexpr (WIDE) share = ldexp(share, exponents[row + u] - exponents[row + v]);
        sum += counts[row + u] * share;
    }
    sums[e] = sum;
}

template <typename Offset, bool WIDE>
__global__ void __launch_bounds__(THREADS)
    add_steps(const Offset* __restrict__ indptr, const int* __restrict__ indices, int n, Index m, int k,
              const int* __restrict__ distances, const double* __restrict__ counts, const int* __restrict__ exponents,
              const double* __restrict__ shares, double* sums) {
    add_each<Offset, int, WIDE>(indptr, indices, Unit{}, n, m, k, distances, counts, exponents, shares, sums);
}

template <typename Offset, typename T, bool WIDE>
__global__ void __launch_bounds__(THREADS)
    add_lengths(const Offset* __restrict__ indptr, const int* __restrict__ indices, const T* __restrict__ lengths,
                int n, Index m, int k, const T* __restrict__ distances, const double* __restrict__ counts,
                const int* __restrict__ exponents, const double* __restrict__ shares, double* sums) {
    const Lengths<T> given{lengths};
    add_each<Offset, T, WIDE>(indptr, indices, given, n, m, k, distances, counts, exponents, shares, sums);
}
