// Shortest paths from many sources at a time in a sparse graph without negative weights.
//
// Algorithm. Bellman and Ford's relaxation, for LANES sources at once: a slice. An edge is relaxed for all of them
// by an addition and a minimum of its ends' rows, a sparse matrix product in the (min, +) algebra, so what it takes
// to find the edge is shared. A vertex whose row fell asks its out-neighbours to look; in the next round they take
// over what the in-neighbours that fell have to offer. Only a row's owner writes it: nothing is atomic but the
// asking, and whoever reads a row while it falls has been asked to look again. All rounds run inside one
// cooperative launch, with a grid-wide barrier each.
//
// Several slices run side by side, as one graph of so many copies: item = slice * n + v. Neighbouring sources share
// a slice, so that their frontiers overlap; while one slice is at its thin end, the others fill the device.
//
// Encoding. labels[item][lane] is the distance from source first + LANES * slice + lane to v. Infinity is inf, for
// int 2^30 - 1, to which a weight of at most 2^29 adds without wrapping. The edges are given by source (out_*:
// whom to ask) and by target (in_*, with weights). Item x belongs to warp x % warps, so that neighbouring vertices
// fall to different warps, and is bit x / warps of this warp's own words in `asked`, a bitmap in two copies: one is
// read while the other is written. stamps[item] is the round in which the row last fell.
//
// Cost. Each edge is relaxed six to seven times in a random graph with some edges a vertex, 15 to 20 times in a
// road network: LANES elements read from the L2 if the labels of all slices fit there. A deep graph is bound by
// the latency of a round. `turn` writes the distances once; `predecessors` reads one per edge and source.
//
// Sources. L. Ford, "Network flow theory", 1956; R. Bellman, "On a routing problem", 1958. Many sources at a time:
// M. Then et al., "The more the merrier: efficient multi-source graph traversal", 2014.

constexpr int THREADS = 512, WARPS = THREADS / 32;
constexpr int RESIDENT = 3;     // blocks a multiprocessor
constexpr int WIDTH = 1;        // sources of a slice that a thread takes
constexpr int LANES = 32 * WIDTH;
constexpr int FLIGHT = 4;       // rows that a warp reads at a time
constexpr int HUB = 512;        // edges into a vertex from which on a whole block looks at them
constexpr int HUBS = 128;       // such vertices that a block can put off in a round
constexpr int ROWS = 8;         // sources that a thread finds a vertex's predecessors for
constexpr int SERIAL = 32;      // edges that it looks at alone before others help
constexpr int NONE = -9999;     // no predecessor
constexpr int OPEN = -1;        // none found yet
constexpr int FRESH = 1 << 30;  // marks one found in this pass
constexpr unsigned ALL = 0xffffffffu;

template <typename T> __device__ __forceinline__ T infinity();
template <> __device__ __forceinline__ float infinity<float>() { return __int_as_float(0x7f800000); }
template <> __device__ __forceinline__ double infinity<double>() { return __longlong_as_double(0x7ff0000000000000LL); }
template <> __device__ __forceinline__ int infinity<int>() { return (1 << 30) - 1; }

__device__ __forceinline__ float relaxed(float d, float a, float b) { return fminf(d, a + b); }
__device__ __forceinline__ double relaxed(double d, double a, double b) { double s = a + b; return s < d ? s : d; }
__device__ __forceinline__ int relaxed(int d, int a, int b) { return __viaddmin_s32(a, b, d); }

// A thread's part of a row. Rows change during a launch, so they are read from the L2, which all blocks share.
template <int BYTES> struct Word;
template <> struct Word<4> { using Type = unsigned; };
template <> struct Word<8> { using Type = uint2; };
template <> struct Word<16> { using Type = uint4; };

template <typename T> struct alignas(sizeof(T) * WIDTH) Part {
    T at[WIDTH];

    static __device__ __forceinline__ Part read(const T* row) {
        const auto word = __ldcg(reinterpret_cast<const typename Word<sizeof(Part)>::Type*>(row));
        return *reinterpret_cast<const Part*>(&word);
    }
    static __device__ __forceinline__ Part all(T value) {
        Part part;
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) part.at[i] = value;
        return part;
    }
    __device__ __forceinline__ void write(T* row) const { *reinterpret_cast<Part*>(row) = *this; }
    __device__ __forceinline__ void relax(const Part& other, T weight) {
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) at[i] = relaxed(at[i], other.at[i], weight);
    }
    __device__ __forceinline__ bool below(const Part& other) const {
        bool any = false;
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) any |= at[i] < other.at[i];
        return any;
    }
};

// What the blocks tell one another; zeroed by the host before a launch. Three flags in turn: one is written, one
// read, one cleared.
struct Control {
    unsigned arrived;
    int asked[3];  // whether anyone was asked to look in the next round
};

__device__ __forceinline__ void grid_barrier(unsigned* arrived) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        unsigned ticket = atomicAdd(arrived, 1u);
        unsigned goal = ticket - ticket % gridDim.x + gridDim.x, now;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
        } while (static_cast<int>(now - goal) < 0);
        __threadfence();
    }
    __syncthreads();
}

template <typename T, typename Offset> struct Slices {
    const Offset* out_indptr;
    const int* out_indices;
    const int* in_indices;
    const T* weights;
    T* labels;
    int* stamps;
    int n;
    unsigned warps;

    __device__ __forceinline__ T* row(int item) const {
        return labels + static_cast<long long>(item) * LANES + threadIdx.x % 32 * WIDTH;
    }

    // Relax the edges of a warp's turns, of 32 each: those whose sources fell since the last round. `copy` is the
    // first item of the slice.
    __device__ __forceinline__ void relax(Part<T>& d, int copy, Offset begin, Offset end, int stride, int round) const {
        const int lane = threadIdx.x % 32;
        for (Offset base = begin; base < end; base += stride) {
            int source = 0;
            T weight = 0;
            bool fell = false;
            if (base + lane < end) {
                source = copy + in_indices[base + lane];
                weight = weights[base + lane];
                fell = __ldcg(stamps + source) >= round - 1;
            }
            for (unsigned left = __ballot_sync(ALL, fell); left;) {
                Part<T> other[FLIGHT];
                T over[FLIGHT];
#pragma unroll
                for (int i = 0; i < FLIGHT; ++i) {
                    const int from = __ffs(left) - 1;  // -1 once none is left
                    over[i] = __shfl_sync(ALL, weight, from);
                    const int via = __shfl_sync(ALL, source, from);
                    other[i] = left ? Part<T>::read(row(via)) : Part<T>::all(infinity<T>());
                    left &= left - 1;
                }
#pragma unroll
                for (int i = 0; i < FLIGHT; ++i) d.relax(other[i], over[i]);
            }
        }
    }

    // Ask the targets of edges begin, begin + stride, ... to look in the next round; whether there were any.
    __device__ __forceinline__ bool ask(unsigned* asked, int copy, Offset begin, Offset end, int stride) const {
        for (Offset e = begin; e < end; e += stride) {
            const unsigned item = copy + out_indices[e], turn = item / warps;
            unsigned* const word = asked + turn / 32 * warps + item % warps;
            const unsigned bit = 1u << turn % 32;
            if (!(__ldcg(word) & bit)) atomicOr(word, bit);
        }
        return begin < end;
    }
};

// labels = the distances from `count` sources, `first` and those after it. A cooperative launch: all blocks are
// resident.
template <typename T, typename Offset>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    distances(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices,
              const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, const T* __restrict__ weights,
              int n, int first, int count, T* labels, int* stamps, unsigned* asked, Control* control) {
    __shared__ T partial[WARPS][LANES];
    __shared__ int hubs[HUBS], waiting, hub_fell;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned warps = gridDim.x * WARPS, own = warp * gridDim.x + blockIdx.x;
    const Slices<T, Offset> slices{out_indptr, out_indices, in_indices, weights, labels, stamps, n, warps};
    const int items = (count + LANES - 1) / LANES * n;
    const unsigned words = (items + 32 * warps - 1) / (32 * warps) * warps;

    for (int item = own; item < items; item += warps) {
        const int source = item % n - first, lanes = item / n * LANES + lane * WIDTH;
        Part<T> d;
        bool any = false;
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            const bool here = source == lanes + i && source < count;
            d.at[i] = here ? T(0) : infinity<T>();
            any |= here;
        }
        d.write(slices.row(item));
        any = __any_sync(ALL, any);
        if (lane == 0) stamps[item] = any ? 0 : -1;
    }
    for (unsigned w = own * 32 + lane; w < 2 * words; w += warps * 32) asked[w] = 0;
    if (threadIdx.x == 0) waiting = 0;
    grid_barrier(&control->arrived);
    for (int source = own; source < count; source += warps) {
        const int v = first + source;
        slices.ask(asked + words, source / LANES * n, out_indptr[v] + lane, out_indptr[v + 1], 32);
    }
    grid_barrier(&control->arrived);

    for (int round = 1; round <= n; ++round) {
        unsigned* const now = asked + round % 2 * words;
        unsigned* const next = asked + (round + 1) % 2 * words;
        if (threadIdx.x == 0) control->asked[(round + 1) % 3] = 0;
        bool any = false;
        for (unsigned w = own; w < words; w += warps) {
            unsigned bits = __ldcg(now + w);
            __syncwarp();
            if (bits && lane == 0) now[w] = 0;
            for (; bits; bits &= bits - 1) {
                const int item = (w / warps * 32 + __ffs(bits) - 1) * warps + own, v = item % n;
                const Offset begin = in_indptr[v], end = in_indptr[v + 1];
                if (end - begin >= HUB) {
                    int at = 0;
                    if (lane == 0) {
                        at = atomicAdd(&waiting, 1);
                        if (at < HUBS) hubs[at] = item;
                    }
                    if (__shfl_sync(ALL, at, 0) < HUBS) continue;
                }
                T* const row = slices.row(item);
                const Part<T> before = Part<T>::read(row);
                Part<T> d = before;
                slices.relax(d, item - v, begin, end, 32, round);
                if (__any_sync(ALL, d.below(before))) {
                    d.write(row);
                    if (lane == 0) stamps[item] = round;
                    any |= slices.ask(next, item - v, out_indptr[v] + lane, out_indptr[v + 1], 32);
                }
            }
        }
        __syncthreads();
        const int put_off = min(waiting, HUBS);
        for (int h = 0; h < put_off; ++h) {
            const int item = hubs[h], v = item % n;
            T* const row = slices.row(item);
            const Part<T> before = Part<T>::read(row);
            Part<T> d = before;
            slices.relax(d, item - v, in_indptr[v] + warp * 32, in_indptr[v + 1], THREADS, round);
            d.write(&partial[warp][lane * WIDTH]);
            __syncthreads();
            if (warp == 0) {
                for (int w = 1; w < WARPS; ++w) d.relax(*reinterpret_cast<Part<T>*>(&partial[w][lane * WIDTH]), T(0));
                const bool fell = __any_sync(ALL, d.below(before));
                if (fell) d.write(row);
                if (lane == 0) {
                    if (fell) stamps[item] = round;
                    hub_fell = fell;
                }
            }
            __syncthreads();
            if (hub_fell) any |= slices.ask(next, item - v, out_indptr[v] + threadIdx.x, out_indptr[v + 1], THREADS);
        }
        any = __syncthreads_or(any);
        if (threadIdx.x == 0) {
            waiting = 0;
            if (any) control->asked[round % 3] = 1;
        }
        grid_barrier(&control->arrived);
        if (!__ldcg(&control->asked[round % 3])) break;
    }
}

// D[r][v] = the distance from source first + r to v: the labels, a vertex a row, turned to a source a row.
template <typename T>
__global__ void __launch_bounds__(256) turn(const T* __restrict__ labels, int n, int count, T* D, long long ld) {
    __shared__ T tile[32][33];
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    const int v0 = blockIdx.x * 32, r0 = blockIdx.y * 32;
    const T* const slice = labels + static_cast<long long>(r0 / LANES) * n * LANES + r0 % LANES;
    for (int i = y; i < 32; i += 8)
        if (v0 + i < n) tile[i][x] = slice[static_cast<long long>(v0 + i) * LANES + x];
    __syncthreads();
    for (int i = y; i < 32; i += 8)
        if (r0 + i < count && v0 + x < n) D[(r0 + i) * ld + v0 + x] = tile[x][i];
}

// D[r][v] += h[v] - h[first + r] where v is reached: the distances before the weights were shifted by the
// potentials h (D. Johnson, "Efficient algorithms for shortest paths in sparse networks", 1977).
template <typename T>
__global__ void __launch_bounds__(256)
    unshift(T* D, long long ld, int rows, int n, int first, const double* __restrict__ h) {
    const int v = blockIdx.x * 256 + threadIdx.x;
    if (v >= n) return;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) {
        const T d = D[r * ld + v];
        if (d < infinity<T>()) D[r * ld + v] = static_cast<T>(d + (h[v] - h[first + r]));
    }
}

// P[r][v] = the least in-neighbour u of v with D[r][u] + weight = D[r][v] and D[r][u] < D[r][v], which no cycle can
// have at all its vertices; OPEN if there are such only at equal distances, NONE where v is not reached or is
// row r's own source, first + r.
template <typename T, typename Offset>
__global__ void __launch_bounds__(256, 3)
    predecessors(const T* __restrict__ D, long long ld, int rows, int n, int first,
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
            const bool looks = d[i] < infinity<T>() && v != first + r0 + i;
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
    plateaus(const T* __restrict__ D, long long ld, int n, int first, const Offset* __restrict__ in_indptr,
             const int* __restrict__ in_indices, const T* __restrict__ weights, int* P, long long ldp) {
    const T* const d = D + blockIdx.x * ld;
    volatile int* const p = P + blockIdx.x * ldp;
    const int source = first + blockIdx.x;
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
