// Shortest paths from many sources at a time in a sparse graph without negative weights.
//
// Algorithm. The relaxation of Bellman and Ford, for LANES sources at once: a slice. A row holds the distances of one
// vertex from the sources of a slice. One addition and one minimum of the rows of its ends relax an edge for all of
// them, as in a sparse matrix product in the (min, +) algebra, so the cost of finding the edge is shared. A vertex
// whose row fell asks its out-neighbours to look. In the next round these relax the edges from the in-neighbours that
// fell. All rounds run in one cooperative launch, with a grid-wide barrier each.
//
// A vertex that fell only to distances of `bound` or more waits until no other vertex asks. Then the bound is raised
// by `window`, and the waiting vertices below it ask (the near and far sets of Davidson et al.). In a road network,
// where paths of many edges are often shorter than paths of few, this saves most of the work. In a graph whose
// distances all lie within the window no vertex waits.
//
// Several slices run side by side, as one graph of several copies. Neighbouring sources share a slice, so that their
// frontiers overlap. While one slice has a thin frontier, the others fill the device.
//
// Encoding. An item is a vertex of a slice: slice * (n | 1) + v. labels[item][lane] is the distance to v from source
// number LANES * slice + lane of the batch. Infinity is inf, for int 2^30 - 1; a weight of at most 2^29 adds to it
// without wrapping. Edges are given by source (out_*, to ask neighbours) and by target (in_*, with weights). An item is
// a bit of column item % columns of a bitmap. Column c belongs to warp c % warps, so neighbouring vertices, and the
// copies of one vertex, belong to different warps. Three bitmaps hold the items asked in this round, those asked in the
// next round, and those that wait. stamps[item] is the round in which the row last fell or asked.
//
// Races. Only the owner of a row writes it; only the bits of the bitmaps are set by atomics. A warp may read a row
// while it falls: it has then been asked to look again.
//
// Cost. Each edge is relaxed six to seven times in a random graph of a few edges a vertex, and as often in a road
// network. Each relaxation reads 512 bytes of a row from the L2 or memory. Deep graphs are also bound by the latency
// of their rounds, which several slices share. `transpose` writes the distances once; `predecessors` reads one
// distance for each edge and source.
//
// Sources. L. Ford, "Network flow theory", 1956; R. Bellman, "On a routing problem", 1958. Many sources at a time: M.
// Then et al., "The more the merrier: efficient multi-source graph traversal", 2014. The bound: A. Davidson, S.
// Baxter, M. Garland, J. Owens, "Work-efficient parallel GPU methods for single-source shortest paths", 2014.

#include "warp.cuh"
#include "grid.cuh"
#include "infinity.cuh"
#include "relaxed.cuh"

constexpr int THREADS = 512, WARPS = THREADS / 32;
constexpr int RESIDENT = 2;     // blocks a multiprocessor
constexpr int HUB = 512;        // edges into a vertex from which on a whole block looks at them
constexpr int HUBS = 128;       // such vertices that a block can put off in a round
constexpr int ROWS = 8;         // sources that a thread finds a vertex's predecessors for
constexpr int SERIAL = 32;      // edges that it looks at alone before others help
constexpr int NONE = -9999;     // no predecessor
constexpr int OPEN = -1;        // none found yet
constexpr int FRESH = 1 << 30;  // marks one found in this pass

// A thread's part of a row: 16 bytes. Rows change during a launch, so they are read from the L2, which all blocks
// share.
template <typename T> struct alignas(16) Part {
    static constexpr int WIDTH = 16 / sizeof(T), LANES = 32 * WIDTH;
    static constexpr int FLIGHT = sizeof(T) == 4 ? 3 : 2;  // parts on their way at a time, as registers allow
    T at[WIDTH];

    static __device__ __forceinline__ Part read(const T* row) {
        const uint4 bits = __ldcg(reinterpret_cast<const uint4*>(row));
        return *reinterpret_cast<const Part*>(&bits);
    }
    __device__ __forceinline__ void write(T* row) const { *reinterpret_cast<Part*>(row) = *this; }
    __device__ __forceinline__ void relax(const Part& other, T weight) {
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) at[i] = relaxed(at[i], other.at[i], weight);
    }
    // Whether any element is less than it was, and less than `bound`.
    __device__ __forceinline__ bool fell(const Part& before, T bound) const {
        bool any = false;
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) any |= at[i] < before.at[i] && at[i] < bound;
        return any;
    }
    __device__ __forceinline__ bool within(T least, T bound) const {
        bool any = false;
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) any |= at[i] >= least && at[i] < bound;
        return any;
    }
};

enum { ASKED = 1, WAITING = 2 };  // an item asked; an item still waits

// What the blocks exchange; zeroed by the host before a launch. Three words in turn: one is written, one
// read, one cleared.
struct Control {
    unsigned arrived;
    int said[3];
};

template <typename T, typename Offset> struct Slices {
    const Offset* out_indptr;
    const int* out_indices;
    const Offset* in_indptr;
    const int* in_indices;
    const T* weights;
    int span;  // from a slice's first item to the next one's
    T* labels;
    int* stamps;
    int columns, shift;  // 2^shift columns

    // An item, its slice's first, and where its vertex's edges begin, and how many there are.
    struct Item {
        int number, copy, in_degree, out_degree;
        Offset in, out;
    };

    __device__ __forceinline__ Item item(int number) const {
        const int v = number % span;
        const Offset in = in_indptr[v], out = out_indptr[v];
        return {number, number - v, int(in_indptr[v + 1] - in), int(out_indptr[v + 1] - out), in, out};
    }
    __device__ __forceinline__ T* row(int item) const {
        return labels + static_cast<long long>(item) * Part<T>::LANES + threadIdx.x % 32 * Part<T>::WIDTH;
    }

    // Call look(item) for each of a warp's items in a bitmap, which is cleared. `found` is shared memory for 32.
    template <typename Look>
    __device__ __forceinline__ void each(unsigned* bitmap, int own, int warps, Item* found, Look look) const {
        const int lane = threadIdx.x % 32;
#pragma unroll 1
        for (int base = own; base < columns; base += 32 * warps) {
            const int column = base + lane * warps;
            unsigned bits = column < columns ? __ldcg(bitmap + column) : 0;
            if (bits) bitmap[column] = 0;
            while (unsigned left = __ballot_sync(ALL, bits)) {
                if (bits) found[lane] = item((__ffs(bits) - 1 << shift) + column);
                bits &= bits - 1;
                __syncwarp();
#pragma unroll 1
                for (; left; left &= left - 1) look(found[__ffs(left) - 1]);
                __syncwarp();
            }
        }
    }

    // Relax an item's edges, 32 at a time, from `skip` on, the next ones `stride` further: those whose sources fell
    // since the last round.
    __device__ __forceinline__ void relax(Part<T>& d, const Item& item, int skip, int stride, int round) const {
        constexpr int FLIGHT = Part<T>::FLIGHT;
        const int lane = threadIdx.x % 32;
#pragma unroll 1
        for (; skip < item.in_degree; skip += stride) {
            int source = 0;
            T weight = 0;
            bool fell = false;
            if (skip + lane < item.in_degree) {
                source = item.copy + in_indices[item.in + skip + lane];
                weight = weights[item.in + skip + lane];
                fell = __ldcg(stamps + source) >= round - 1;
            }
#pragma unroll 1
            for (unsigned left = __ballot_sync(ALL, fell); left;) {
                Part<T> other[FLIGHT];
                unsigned coming = left;
#pragma unroll
                for (int i = 0; i < FLIGHT; ++i, coming &= coming - 1) {
                    const int via = __shfl_sync(ALL, source, __ffs(coming) - 1);
                    if (coming) other[i] = Part<T>::read(row(via));
                }
#pragma unroll
                for (int i = 0; i < FLIGHT; ++i, left &= left - 1) {
                    const T over = __shfl_sync(ALL, weight, __ffs(left) - 1);
                    if (left) d.relax(other[i], over);
                }
            }
        }
    }

    __device__ __forceinline__ void set(unsigned* bitmap, int item) const {
        atomicOr(bitmap + (item & columns - 1), 1u << (item >> shift));
    }
    __device__ __forceinline__ void clear(unsigned* bitmap, int item) const {
        atomicAnd(bitmap + (item & columns - 1), ~(1u << (item >> shift)));
    }
    // Ask an item's out-neighbours, or a thread's part of them: from `skip` on, every `stride`-th.
    __device__ __forceinline__ void ask(unsigned* asked, const Item& item, int skip, int stride) const {
#pragma unroll 1
        for (; skip < item.out_degree; skip += stride) set(asked, item.copy + out_indices[item.out + skip]);
    }
};

// labels = the distances from `count` sources. Those of `end` or more may be too large; such labels are passed on only
// beside others that are less. A cooperative launch: all blocks are resident.
template <typename T, typename Offset>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    distances(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices,
              const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, const T* __restrict__ weights,
              int n, T window, T end, const int* __restrict__ sources, int count, T* labels, int* stamps,
              unsigned* bitmaps, int columns, Control* control) {
    using Graph = Slices<T, Offset>;
    using Item = typename Graph::Item;
    constexpr int WIDTH = Part<T>::WIDTH, LANES = Part<T>::LANES;
    __shared__ Part<T> partial[WARPS][32];
    __shared__ Item found[WARPS][32], hubs[HUBS];
    __shared__ int waiting;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, span = n | 1;
    const int warps = gridDim.x * WARPS, own = warp * gridDim.x + blockIdx.x;
    const int items = (count + LANES - 1) / LANES * span;
    const Graph graph{out_indptr, out_indices, in_indptr, in_indices, weights,
                      span,       labels,      stamps,    columns,    __ffs(columns) - 1};
    unsigned* const later = bitmaps + 2 * columns;

#pragma unroll 1
    for (int number = own; number < items; number += warps) {
        Part<T> d;
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) d.at[i] = infinity<T>();
        d.write(graph.row(number));
        if (lane == 0) stamps[number] = -1;
    }
    for (int w = own * 32 + lane; w < 3 * columns; w += warps * 32) bitmaps[w] = 0;
    if (threadIdx.x == 0) waiting = 0;
    grid_barrier(&control->arrived);
    for (int r = own; r < count; r += warps) {
        const Item item = graph.item(r / LANES * span + sources[r]);
        if (lane == 0) {
            labels[static_cast<long long>(item.number) * LANES + r % LANES] = 0;
            stamps[item.number] = 0;
        }
        graph.ask(bitmaps + columns, item, lane, 32);
    }
    grid_barrier(&control->arrived);

    T least = 0, bound = window;
    bool raised = false;  // from `least` to `bound`, just now: this round is for the items that waited
    for (int round = 1;; ++round) {
        unsigned* const now = bitmaps + round % 2 * columns;
        unsigned* const next = bitmaps + (round + 1) % 2 * columns;
        if (threadIdx.x == 0) control->said[(round + 1) % 3] = 0;
        int says = 0;

        // Whether an item whose row was `before` and is d asks its out-neighbours. One warp `writes` what changed.
        auto asks = [&](const Item& item, const Part<T>& d, const Part<T>& before, bool writes) {
            if (!__any_sync(ALL, d.fell(before, end))) return false;
            const bool near = __any_sync(ALL, d.fell(before, bound));
            if (writes) d.write(graph.row(item.number));
            if (writes && lane == 0) {
                stamps[item.number] = round;
                if (!near) graph.set(later, item.number);
                if (near && bound < end) graph.clear(later, item.number);
            }
            if (near) says = ASKED;
            return near;
        };

        if (raised) {
            graph.each(later, own, warps, found[warp], [&](const Item& item) {
                if (__any_sync(ALL, Part<T>::read(graph.row(item.number)).within(least, bound))) {
                    if (lane == 0) stamps[item.number] = round;
                    graph.ask(next, item, lane, 32);
                    says |= ASKED;
                } else {
                    if (lane == 0) graph.set(later, item.number);
                    says |= WAITING;
                }
            });
        } else {
            graph.each(now, own, warps, found[warp], [&](const Item& item) {
                if (item.in_degree >= HUB) {
                    int at = 0;
                    if (lane == 0) at = atomicAdd(&waiting, 1);
                    at = __shfl_sync(ALL, at, 0);
                    if (lane == 0 && at < HUBS) hubs[at] = item;
                    if (at < HUBS) return;
                }
                const int target = lane < item.out_degree ? out_indices[item.out + lane] : -1;  // needed soon
                const Part<T> before = Part<T>::read(graph.row(item.number));
                Part<T> d = before;
                graph.relax(d, item, 0, 32, round);
                if (asks(item, d, before, true)) {
                    if (target >= 0) graph.set(next, item.copy + target);
                    graph.ask(next, item, 32 + lane, 32);
                }
            });
            __syncthreads();
            const int put_off = min(waiting, HUBS);
#pragma unroll 1
            for (int h = 0; h < put_off; ++h) {
                const Item item = hubs[h];
                const Part<T> before = Part<T>::read(graph.row(item.number));
                Part<T> d = before;
                graph.relax(d, item, warp * 32, THREADS, round);
                partial[warp][lane] = d;
                __syncthreads();
#pragma unroll 1
                for (int w = 0; w < WARPS; ++w) d.relax(partial[w][lane], T(0));
                if (asks(item, d, before, warp == 0)) graph.ask(next, item, threadIdx.x, THREADS);
                __syncthreads();
            }
        }
        const bool asked = __syncthreads_or(says & ASKED), waits = __syncthreads_or(says & WAITING);
        if (threadIdx.x == 0) {
            waiting = 0;
            if (asked || waits) atomicOr(&control->said[round % 3], (asked ? ASKED : 0) | (waits ? WAITING : 0));
        }
        grid_barrier(&control->arrived);
        const int said = __ldcg(&control->said[round % 3]);
        if (said & ASKED) {
            raised = false;
            continue;
        }
        if (raised ? !said : bound >= end) break;  // no item asks and no item waits
        if (raised && window < infinity<T>() / 2) window += window;  // raised in vain: take larger steps
        least = bound;
        bound = bound + window < end ? bound + window : end;
        raised = true;
    }
}

// D[r][v] = the distance from source r to v, infinite if not less than `end`: the labels, a vertex a row, become a
// source a row.
template <typename T>
__global__ void __launch_bounds__(256)
    transpose(const T* __restrict__ labels, int n, int count, T end, T* D, long long ld) {
    __shared__ T tile[32][33];
    constexpr int LANES = Part<T>::LANES;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    const int v0 = blockIdx.x * 32, r0 = blockIdx.y * 32;
    const T* const slice = labels + static_cast<long long>(r0 / LANES) * (n | 1) * LANES + r0 % LANES;
    for (int i = y; i < 32; i += 8)
        if (v0 + i < n) tile[i][x] = slice[static_cast<long long>(v0 + i) * LANES + x];
    __syncthreads();
    for (int i = y; i < 32; i += 8)
        if (r0 + i < count && v0 + x < n) D[(r0 + i) * ld + v0 + x] = tile[x][i] < end ? tile[x][i] : infinity<T>();
}

// D[r][v] += h[v] - h[sources[r]] where v is reached: the distances before the weights were shifted by the
// potentials h (D. Johnson, "Efficient algorithms for shortest paths in sparse networks", 1977).
template <typename T>
__global__ void __launch_bounds__(256)
    unshift(T* D, long long ld, int rows, int n, const int* __restrict__ sources, const double* __restrict__ h) {
    const int v = blockIdx.x * 256 + threadIdx.x;
    if (v >= n) return;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) {
        const T d = D[r * ld + v];
        if (d < infinity<T>()) D[r * ld + v] = static_cast<T>(d + (h[v] - h[sources[r]]));
    }
}

// P[r][v] = the least in-neighbour u of v with D[r][u] + weight = D[r][v] and D[r][u] < D[r][v], which no cycle can
// have at all its vertices; OPEN if there are such only at equal distances, NONE where v is not reached or is
// row r's own source.
template <typename T, typename Offset>
__global__ void __launch_bounds__(256, 3)
    predecessors(const T* __restrict__ D, long long ld, int rows, int n, const int* __restrict__ sources,
                 const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
                 const T* __restrict__ weights, int* P, long long ldp) {
    const int lane = threadIdx.x % 32, v = blockIdx.x * 256 + threadIdx.x;
    Offset begin = 0, end = 0;
    if (v < n) begin = in_indptr[v], end = in_indptr[v + 1];
    const Offset alone = end - begin > SERIAL ? begin + SERIAL : end;
    for (int r0 = blockIdx.y * ROWS; r0 < rows; r0 += gridDim.y * ROWS) {
        T d[ROWS];
        int found[ROWS];
        unsigned open = 0;  // a bit for each row that still looks
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            d[i] = v < n && r0 + i < rows ? D[(r0 + i) * ld + v] : infinity<T>();
            const bool looks = d[i] < infinity<T>() && v != sources[r0 + i];
            found[i] = looks ? OPEN : NONE;
            open |= looks ? 1u << i : 0;
        }
        for (Offset e = begin; e < alone && open; ++e) {
            const int u = in_indices[e];
            const T weight = weights[e];
            T from[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; ++i) from[i] = open >> i & 1 ? D[(r0 + i) * ld + u] : infinity<T>();
#pragma unroll
            for (int i = 0; i < ROWS; ++i)
                if (open >> i & 1 && from[i] < d[i] && from[i] + weight == d[i]) {
                    found[i] = u;
                    open ^= 1u << i;
                }
        }
        // The warp takes the long lists one by one.
        for (unsigned left = __ballot_sync(ALL, open && alone < end); left; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const unsigned theirs = __shfl_sync(ALL, open, owner);
            const Offset start = __shfl_sync(ALL, alone, owner), stop = __shfl_sync(ALL, end, owner);
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                const T wanted = __shfl_sync(ALL, d[i], owner);
                for (Offset base = start; base < stop && theirs >> i & 1; base += 32) {
                    int u = 0;
                    bool tight = false;
                    if (base + lane < stop) {
                        u = in_indices[base + lane];
                        const T from = D[(r0 + i) * ld + u];
                        tight = from < wanted && from + weights[base + lane] == wanted;
                    }
                    const unsigned hits = __ballot_sync(ALL, tight);
                    if (hits) {
                        u = __shfl_sync(ALL, u, __ffs(hits) - 1);
                        if (lane == owner) found[i] = u;
                        break;
                    }
                }
            }
        }
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
            if (v < n && r0 + i < rows) P[(r0 + i) * ldp + v] = found[i];
    }
}

// Predecessors at equal distances, along edges of weight zero or lost in rounding: an open vertex takes the least
// such in-neighbour that has its own predecessor since an earlier pass, or is the source, so no cycle closes. A
// block passes over its row until no vertex finds one.
template <typename T, typename Offset>
__global__ void __launch_bounds__(1024)
    plateaus(const T* __restrict__ D, long long ld, int n, const int* __restrict__ sources,
             const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
             const T* __restrict__ weights, int* P, long long ldp) {
    const T* const d = D + blockIdx.x * ld;
    volatile int* const p = P + blockIdx.x * ldp;
    const int source = sources[blockIdx.x];
    for (;;) {
        bool any = false;
        for (int v = threadIdx.x; v < n; v += blockDim.x) {
            if (p[v] != OPEN) continue;
            for (Offset e = in_indptr[v]; e < in_indptr[v + 1]; ++e) {
                const int u = in_indices[e];
                const bool tight = d[u] == d[v] && d[u] + weights[e] == d[v];
                if (tight && (u == source || (p[u] >= 0 && p[u] < FRESH))) {
                    p[v] = u | FRESH;
                    any = true;
                    break;
                }
            }
        }
        if (!__syncthreads_or(any)) break;
        for (int v = threadIdx.x; v < n; v += blockDim.x)
            if (p[v] >= FRESH) p[v] = p[v] ^ FRESH;
        __syncthreads();
    }
}
