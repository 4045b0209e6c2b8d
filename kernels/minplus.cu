// All-pairs shortest paths: the blocked Floyd-Warshall algorithm, as elimination in the (min, +) algebra.
//
// Algorithm. Floyd and Warshall relax every pair through k = 0, 1, ..., n-1. Venkataraman, Sahni and Mukhopadhyaya
// (2003) take b pivots at a time. Katz and Kider (2008) have the three phases on a GPU: the diagonal block, the blocks
// of its row and column, and all other blocks. Here the phases are written as Carre's (1971) elimination. Each uses
// the value that a pivot's row or column has at the pivot's own turn, "at time k":
//
//   factor   M = the diagonal block; each entry is relaxed through the pivots before both its row and its column.
//            Below the diagonal it holds d[i,k] at time k, above it d[k,j] at time k.
//   solve    R[k,j] = d[k,j] at time k = min(d[k,j], min over k' < k of M[k,k'] + R[k',j])    the pivot rows
//            C[k,i] = d[i,k] at time k = min(d[i,k], min over k' < k of C[k',i] + M[k',k])    the columns
//   update   d[i,j] = min(d[i,j], min over k of C[k,i] + R[k,j])                              all entries
//
// These are exactly the sums that the unblocked algorithm compares. So the result is the same to the last bit for any
// block size and any number of devices. A recorded predecessor is the one that the unblocked algorithm records, which
// is correct with cycles of weight zero. Only `update` writes the matrix. `through` is the unblocked algorithm, which
// Harish and Narayanan (2007) brought to GPUs, in one launch. `eliminate` solves a small matrix in one launch.
//
// Encoding. The matrix is row-major; its rows start at multiples of 16 bytes. It may be a part of a larger matrix:
// rows and columns count from its own corner, `pivot` from the corner of the whole. The panels R and C are both stored
// pivot by pivot (C transposed), so that a tile of either is a few contiguous rows. The panels' rows are padded to
// whole tiles, and rows from the last pivot up to a multiple of 32 hold infinity. Infinity is inf; for an integer of w
// bits it is 2^(w-2) - 1, so two infinities add without wrapping. Negative weights may lower an infinity a little, but
// never to the range of distances (mgraph/dtypes.py).
//
// P holds a label for each element, int32, -9999 for none. If the pivots' rows come with labels, a label is the
// predecessor on the path. Otherwise it is the pivot, the highest intermediate vertex on the path.
//
// `update` takes int16 in pairs: a word holds two neighbours of a row, and one instruction of Hopper adds and compares
// both. C holds each value twice in a word, a factor for both. The other kernels hold an int16 in the upper half of an
// int, whose sums wrap and compare as those of int16.
//
// Cost. n^3 additions and minima, all but 2 b / n of them in `update`, which reads and writes the matrix once for b
// pivots. The minimum unit bounds it (64 lanes a clock and multiprocessor).

#include "copy_async.cuh"
#include "grid.cuh"
#include "relaxed.cuh"

// What the kernels hold of an element of type T: a value to compute with, and the word it is in a column panel.
template <typename T> struct Element {
    using Value = T;
    using Factor = T;
    static __device__ __forceinline__ Value value(T stored) { return stored; }
    static __device__ __forceinline__ T stored(Value v) { return v; }
    static __device__ __forceinline__ Factor factor(Value v) { return v; }
};

template <> struct Element<short> {
    using Value = int;
    using Factor = Pair;
    static __device__ __forceinline__ Value value(short stored) { return stored * (1 << 16); }
    static __device__ __forceinline__ short stored(Value v) { return static_cast<short>(v >> 16); }
    static __device__ __forceinline__ Factor factor(Value v) { return v | static_cast<unsigned>(v) >> 16; }
};

template <typename T> __device__ __forceinline__ typename Element<T>::Value infinity();
template <> __device__ __forceinline__ float infinity<float>() { return __int_as_float(0x7f800000); }
template <> __device__ __forceinline__ double infinity<double>() { return __longlong_as_double(0x7ff0000000000000LL); }
template <> __device__ __forceinline__ int infinity<int>() { return (1 << 30) - 1; }
template <> __device__ __forceinline__ int infinity<short>() { return Element<short>::value((1 << 14) - 1); }

// Relax d through a + b; with PATHS, remember in `label` that the one called `via` improved it.
template <bool PATHS, typename T>
__device__ __forceinline__ void relax(T& d, int& label, T a, T b, int via) {
    if constexpr (PATHS) {
        T s = a + b;
        if (s < d) {
            d = s;
            label = via;
        }
    } else {
        d = relaxed(d, a, b);
    }
}

template <typename T, int V> struct alignas(sizeof(T) * V) Vector { T at[V]; };

constexpr int BLOCK = 128;  // the most pivots eliminated at a time
constexpr int SIDE = 16;    // threads across and down of `factor`
constexpr int CHUNK = 32;   // pivots whose factors a block of `solve` has in shared memory at a time
constexpr int LANES = 64;   // columns of a panel that a block of `solve` has,
constexpr int GROUPS = 4;   // and threads a column, each with some of the chunk's pivots

// M = the factored diagonal block, whose corner is D[row, column]; BLOCK x BLOCK, with infinity beyond the b
// pivots. One thread block of SIDE x SIDE threads, each holding a sample of the matrix in registers: the elements
// (y + SIDE p, x + SIDE q). One barrier a pivot.
// `cycle` becomes the first pivot of negative weight, which lies on a negative cycle.
template <typename T>
__global__ void __launch_bounds__(SIDE* SIDE, 1)
    factor(const T* D, long long ld, int row, int column, int pivot, int b, T* M, int* cycle) {
    using Value = typename Element<T>::Value;
    constexpr int SAMPLES = BLOCK / SIDE;
    __shared__ Value lefts[2][BLOCK], rights[2][BLOCK];
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    Value m[SAMPLES][SAMPLES];
#pragma unroll
    for (int p = 0; p < SAMPLES; ++p)
#pragma unroll
        for (int q = 0; q < SAMPLES; ++q) {
            const int i = y + SIDE * p, j = x + SIDE * q;
            m[p][q] = i < b && j < b ? Element<T>::value(D[(row + i) * ld + column + j]) : infinity<T>();
        }
    // Pivots SIDE g to SIDE (g + 1) - 1 sit in the g-th sample of a row or column, and leave those before alone.
#pragma unroll
    for (int g = 0; g < SAMPLES; ++g) {
        for (int t = 0; t < SIDE && SIDE * g + t < b; ++t) {
            Value* const left = lefts[t % 2];
            Value* const right = rights[t % 2];
            if (y == t) {
#pragma unroll
                for (int q = g; q < SAMPLES; ++q) right[x + SIDE * q] = m[g][q];
            }
            if (x == t) {
#pragma unroll
                for (int p = g; p < SAMPLES; ++p) left[y + SIDE * p] = m[p][g];
                if (y == t && m[g][g] < Value(0)) atomicMin(cycle, pivot + SIDE * g + t);
            }
            __syncthreads();
            Value l[SAMPLES], r[SAMPLES];
#pragma unroll
            for (int p = g; p < SAMPLES; ++p) {  // infinity for the pivots' own rows and columns, now done
                l[p] = p > g || y > t ? left[y + SIDE * p] : infinity<T>();
                r[p] = p > g || x > t ? right[x + SIDE * p] : infinity<T>();
            }
#pragma unroll
            for (int p = g; p < SAMPLES; ++p)
#pragma unroll
                for (int q = g; q < SAMPLES; ++q) m[p][q] = relaxed(m[p][q], l[p], r[q]);
        }
    }
#pragma unroll
    for (int p = 0; p < SAMPLES; ++p)
#pragma unroll
        for (int q = 0; q < SAMPLES; ++q) {
            const int i = y + SIDE * p, j = x + SIDE * q;
            M[i * BLOCK + j] = Element<T>::stored(i < b && j < b ? m[p][q] : infinity<T>());
        }
}

// Both triangular solves. A block carries LANES columns of a panel through all pivots, a chunk at a time: each
// of a column's threads takes its pivots of the chunk through all earlier ones, then the threads take turns.
// `item` is the panel's column: j of R, i of C. The pivots' block begins at `at`: a row of D, or a column.
// A multiprocessor takes as many blocks as its shared memory does.
//   ROWS:  coefficient (k, k') = M[k][k'],  entry (k, item) = D[at + k][item]
//   else:  coefficient (k, k') = M[k'][k],  entry (k, item) = D[item][at + k]
template <typename T, bool ROWS, bool PATHS>
__global__ void __launch_bounds__(LANES* GROUPS, (PATHS ? 8 : 16) / sizeof(typename Element<T>::Value))
    solve(const T* D, const int* P, long long ld, int at, int b, int items, const T* M, void* panel, int* labels,
          long long ldp) {
    extern __shared__ __align__(16) char shared[];
    using Value = typename Element<T>::Value;
    constexpr int V = 16 / sizeof(Value);  // factors of one 16-byte access, and the padding that spreads the banks
    constexpr int OWN = CHUNK / GROUPS;
    using Values = Vector<Value, V>;
    Value(*const known)[LANES + 1] = reinterpret_cast<Value(*)[LANES + 1]>(shared);
    Value(*const factors)[CHUNK + V] = reinterpret_cast<Value(*)[CHUNK + V]>(known + BLOCK);
    int(*const known_label)[LANES] = reinterpret_cast<int(*)[LANES]>(factors + BLOCK);
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const int first = blockIdx.x * LANES, item = first + lane;
    constexpr int LINES = LANES * GROUPS / 32;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;  // as LINES rows of 32, to read lines of a matrix
    const int chunks = (b + CHUNK - 1) / CHUNK;

    // Many loads in flight: a block has little else to hide their latency behind.
    if constexpr (ROWS) {
#pragma unroll 16
        for (int k = group; k < chunks * CHUNK; k += GROUPS)
            known[k][lane] = k < b && item < items ? Element<T>::value(D[(at + k) * ld + item]) : infinity<T>();
    } else {  // rows of D are read along k and turned on their way into shared memory
        for (int c = 0; c < chunks; ++c)
#pragma unroll
            for (int i = y; i < LANES; i += LINES) {
                const int k = c * CHUNK + x;
                known[k][i] =
                    k < b && first + i < items ? Element<T>::value(D[(first + i) * ld + at + k]) : infinity<T>();
            }
    }
    for (int c = 0; c < chunks; ++c) {
        const int base = c * CHUNK, own = base + group * OWN;
        __syncthreads();
        if constexpr (ROWS) {  // M is read along k'
            for (int before = x; before < base + CHUNK; before += 32)
#pragma unroll
                for (int k = y; k < CHUNK; k += LINES)
                    factors[before][k] = Element<T>::value(M[(base + k) * BLOCK + before]);
        } else {  // and here along k
#pragma unroll 8
            for (int before = y; before < base + CHUNK; before += LINES)
                factors[before][x] = Element<T>::value(M[before * BLOCK + base + x]);
        }
        __syncthreads();
        Value d[OWN];
        int label[OWN];
#pragma unroll
        for (int k = 0; k < OWN; ++k) {
            d[k] = known[own + k][lane];
            if constexpr (PATHS) label[k] = own + k < b && item < items ? P[(at + own + k) * ld + item] : -9999;
        }
        auto pass = [&](int before) {  // one earlier pivot
            const Value passed = known[before][lane];
            int via = 0;
            if constexpr (PATHS) via = known_label[before][lane];
#pragma unroll
            for (int k = 0; k < OWN; k += V) {
                const Values f = *reinterpret_cast<const Values*>(&factors[before][group * OWN + k]);
#pragma unroll
                for (int s = 0; s < V; ++s) relax<PATHS>(d[k + s], label[k + s], f.at[s], passed, via);
            }
        };
#pragma unroll 4
        for (int before = 0; before < base; ++before) pass(before);
#pragma unroll 1
        for (int turn = 0; turn < GROUPS; ++turn) {
            if (group == turn) {
#pragma unroll
                for (int before = 0; before < OWN; ++before)
#pragma unroll
                    for (int k = before + 1; k < OWN; ++k)
                        relax<PATHS>(d[k], label[k], factors[own + before][group * OWN + k], d[before], label[before]);
#pragma unroll
                for (int k = 0; k < OWN; ++k) {
                    known[own + k][lane] = d[k];
                    if constexpr (ROWS)
                        static_cast<T*>(panel)[(own + k) * ldp + item] = Element<T>::stored(d[k]);
                    else
                        static_cast<typename Element<T>::Factor*>(panel)[(own + k) * ldp + item] =
                            Element<T>::factor(d[k]);
                    if constexpr (PATHS) {
                        known_label[own + k][lane] = label[k];
                        labels[(own + k) * ldp + item] = label[k];
                    }
                }
            }
            __syncthreads();
            if (group > turn)
#pragma unroll
                for (int k = 0; k < OWN; ++k) pass(base + turn * OWN + k);
        }
    }
}

// The tile of `update` that a thread block computes, the part of it that a thread holds in registers, and the
// number of blocks that fit a multiprocessor. The launcher chooses by measurements for each type
// (mgraph/kernels/minplus/cuda.py).
template <int M_, int N_, int TM_, int TN_, int RESIDENT_> struct Tile {
    static constexpr int M = M_, N = N_, TM = TM_, TN = TN_, RESIDENT = RESIDENT_, THREADS = M / TM * (N / TN);
};

constexpr int STEP = 16;   // pivots whose part of the panels `update` has in shared memory at a time,
constexpr int STAGES = 2;  // and how often it has that: one in use, one on its way

// `bits`, with a bit appended that says whether d is less than `before`: the sign of the difference. In floats inf -
// inf has none.
__device__ __forceinline__ unsigned noted(unsigned bits, float d, float before) {
    return __funnelshift_l(__float_as_uint(d - before), bits, 1);
}
__device__ __forceinline__ unsigned noted(unsigned bits, int d, int before) {
    return __funnelshift_l(d - before, bits, 1);
}
__device__ __forceinline__ unsigned noted(unsigned bits, double d, double before) { return bits << 1 | (d < before); }

// D = min(D, C (+) R): a matrix product in the (min, +) algebra, tiles of D in registers, tiles of the panels
// through shared memory. `depth` is the number of pivots rounded up to a multiple of 16. PAIRS takes two pivots at
// a time: floats that are not negative order as the integers of their bits, of which one instruction finds
// the least of three. With PATHS a thread notes only which of its elements fell in a step, a bit for each, and
// the pivot is looked for afterwards: in the last such step, the first whose sum is the element. Where T is Pair,
// columns and leading dimensions count pairs.
template <typename T, bool PATHS, bool PAIRS, typename S>
__global__ void __launch_bounds__(S::THREADS, S::RESIDENT)
    update(T* D, int* P, int ld, int rows, int columns, const T* C, int ldc, const T* R, const int* labels,
           int ldr, int pivot, int depth, int skip_top, int skip_rows, int skip_left, int skip_columns) {
    constexpr int V = 16 / sizeof(T);  // elements of one 16-byte access
    constexpr int ACROSS = S::N / S::TN, DOWN = S::M / S::TM, THREADS = S::THREADS;
    constexpr int GROUPS_M = S::TM / V, GROUPS_N = S::TN / V;
    constexpr unsigned RING = STAGES * STEP;  // a pivot's line of the panels is at its number modulo this
    __shared__ __align__(16) T lines[RING][S::M + S::N];  // S::M of C, S::N of R
    using Values = Vector<T, V>;

    const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    // Some rows and columns, whole tiles, are up to date, and others may be reading them: no block has them.
    const int above = blockIdx.y * S::M, before = blockIdx.x * S::N;
    const int i0 = above + (above >= skip_top ? skip_rows : 0), j0 = before + (before >= skip_left ? skip_columns : 0);
    // A thread's rows and columns come in groups of V, DOWN (or ACROSS) groups apart: no bank conflicts.
    auto row = [](int y, int r) { return y * V + (r / V) * (DOWN * V) + r % V; };
    auto column = [](int x, int c) { return x * V + (c / V) * (ACROSS * V) + c % V; };
    auto place = [&](int i, int j) { return static_cast<long long>(i0 + i) * ld + j0 + j; };
    auto inside = [&](int i, int j) { return i < rows - i0 && j < columns - j0; };

    T d[S::TM][S::TN];
#pragma unroll
    for (int r = 0; r < S::TM; ++r)
#pragma unroll
        for (int c = 0; c < S::TN; c += V) {
            const int i = row(y, r), j = column(x, c);
            Values v{};
            if (inside(i, j)) v = *reinterpret_cast<const Values*>(D + place(i, j));
#pragma unroll
            for (int s = 0; s < V; ++s) d[r][c + s] = v.at[s];
        }

    // Each thread fetches 16 bytes of the same columns in every round, some lines apart.
    constexpr int WIDE_M = S::M / V, WIDE_N = S::N / V;
    static_assert(THREADS % WIDE_M == 0 && THREADS % WIDE_N == 0);
    const int line_m = threadIdx.x / WIDE_M, at_m = threadIdx.x % WIDE_M * V;
    const int line_n = threadIdx.x / WIDE_N, at_n = threadIdx.x % WIDE_N * V;
    const T* next_left = C + line_m * ldc + i0 + at_m;
    const T* next_right = R + line_n * ldr + j0 + at_n;
    auto fetch = [&](unsigned line) {
#pragma unroll
        for (int l = 0; l < STEP; l += THREADS / WIDE_M)
            if (THREADS / WIDE_M <= STEP || line_m < STEP)
                copy_async(&lines[line + l + line_m][at_m], next_left + l * ldc);
#pragma unroll
        for (int l = 0; l < STEP; l += THREADS / WIDE_N)
            if (THREADS / WIDE_N <= STEP || line_n < STEP)
                copy_async(&lines[line + l + line_n][S::M + at_n], next_right + l * ldr);
        next_left += STEP * ldc;
        next_right += STEP * ldr;
    };
    static_assert(!PATHS || S::TM * S::TN <= 32);
    __shared__ unsigned fell[PATHS ? BLOCK / STEP : 1][PATHS ? THREADS : 1];
    unsigned ever = 0;  // elements that fell in any step
    constexpr int AHEAD = (STAGES - 1) * STEP;
#pragma unroll
    for (int k = 0; k < AHEAD; k += STEP) {
        if (k < depth) fetch(k);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int k = 0; k < depth; k += STEP) {
        const unsigned line = k % RING;
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (k + AHEAD < depth) fetch((k + AHEAD) % RING);
        asm volatile("cp.async.commit_group;" ::: "memory");
        T old[PATHS ? S::TM : 1][PATHS ? S::TN : 1];
        if constexpr (PATHS) {
#pragma unroll
            for (int r = 0; r < S::TM; ++r)
#pragma unroll
                for (int c = 0; c < S::TN; ++c) old[r][c] = d[r][c];
        }
        constexpr int AT_ONCE = PAIRS ? 2 : 1;
#pragma unroll
        for (int s = 0; s < STEP; s += AT_ONCE) {
            Values a[AT_ONCE][GROUPS_M], b[AT_ONCE][GROUPS_N];
#pragma unroll
            for (int t = 0; t < AT_ONCE; ++t) {
#pragma unroll
                for (int g = 0; g < GROUPS_M; ++g)
                    a[t][g] = *reinterpret_cast<const Values*>(&lines[line + s + t][row(y, g * V)]);
#pragma unroll
                for (int g = 0; g < GROUPS_N; ++g)
                    b[t][g] = *reinterpret_cast<const Values*>(&lines[line + s + t][S::M + column(x, g * V)]);
            }
#pragma unroll
            for (int r = 0; r < S::TM; ++r)
#pragma unroll
                for (int c = 0; c < S::TN; ++c) {
                    const T x0 = a[0][r / V].at[r % V], y0 = b[0][c / V].at[c % V];
                    if constexpr (PAIRS)
                        d[r][c] = least(d[r][c], x0 + y0, a[1][r / V].at[r % V] + b[1][c / V].at[c % V]);
                    else
                        d[r][c] = relaxed(d[r][c], x0, y0);
                }
        }
        if constexpr (PATHS) {
            unsigned bits = 0;
#pragma unroll
            for (int e = S::TM * S::TN - 1; e >= 0; --e)
                bits = noted(bits, d[e / S::TN][e % S::TN], old[e / S::TN][e % S::TN]);
            fell[k / STEP][threadIdx.x] = bits;
            ever |= bits;
        }
    }

#pragma unroll
    for (int r = 0; r < S::TM; ++r)
#pragma unroll
        for (int c = 0; c < S::TN; c += V) {
            const int i = row(y, r), j = column(x, c);
            Values v;
#pragma unroll
            for (int s = 0; s < V; ++s) v.at[s] = d[r][c + s];
            if (inside(i, j)) *reinterpret_cast<Values*>(D + place(i, j)) = v;
        }
    if constexpr (PATHS) {
        // Few elements fall in most rounds, but some in every warp: they are gathered, so that no lane idles
        // while the sums of the step are made again, in the same way.
        static_assert(sizeof(lines) >= S::M * S::N * sizeof(int));
        unsigned* const fallen = reinterpret_cast<unsigned*>(lines);  // 32 times the thread, plus the bit
        __shared__ int gathered;
        if (threadIdx.x == 0) gathered = 0;
        __syncthreads();
        int at = ever ? atomicAdd(&gathered, __popc(ever)) : 0;
        for (; ever; ever &= ever - 1) fallen[at++] = 32 * threadIdx.x + __ffs(ever) - 1;
        __syncthreads();
        for (int f = threadIdx.x; f < gathered; f += THREADS) {
            const unsigned thread = fallen[f] / 32, e = fallen[f] % 32;
            const int i = row(thread / ACROSS, e / S::TN), j = column(thread % ACROSS, e % S::TN);
            if (!inside(i, j)) continue;
            int k = (depth - 1) / STEP;
            while (!(fell[k][thread] >> e & 1)) --k;
            k *= STEP;
            const T value = D[place(i, j)];
            const T* const a = C + k * ldc + i0 + i;
            const T* const b = R + k * ldr + j0 + j;
            int first = 0;
#pragma unroll 4
            for (int s = STEP - 1; s >= 0; --s)
                if (a[s * ldc] + b[s * ldr] == value) first = s;
            k += first;
            P[place(i, j)] = labels ? labels[k * ldr + j0 + j] : pivot + k;
        }
    }
}

// The unblocked algorithm: D = min(D, D[:, column + t] + R[t]) in place, for t = 0, 1, ..., count - 1, which are the
// vertices pivot + t. One cooperative launch: every thread has the same vectors of 16 bytes at each pivot, and the grid
// waits between pivots. R may be the pivots' own rows of D, and labels those of P: a pivot whose element on the
// diagonal is not negative changes neither its row nor its column, so no thread reads what another one writes before
// the barrier. Where the element is negative it lies on a negative cycle: `cycle` becomes the least such vertex, and
// the rest of the launch, which would have no meaning, is left out. Loads bypass the L1, which does not see what other
// blocks write.
//
// Cost. The matrix is read once a pivot, from the L2 where it fits; a barrier takes 1 us.
// Version 1: a launch a pivot, an element a thread (Harish and Narayanan, 2007). 2: one launch, 16 bytes a thread.
constexpr int THROUGH_WARPS = 16;    // rows of a tile, a warp each,
constexpr int THROUGH_RESIDENT = 3;  // and blocks a multiprocessor

template <typename V> __device__ __forceinline__ V load_past_l1(const V* place) {
    static_assert(sizeof(V) == sizeof(int4));
    const int4 words = __ldcg(reinterpret_cast<const int4*>(place));
    return *reinterpret_cast<const V*>(&words);
}

template <typename T>
__global__ void __launch_bounds__(32 * THROUGH_WARPS, THROUGH_RESIDENT)
    through(T* D, int* P, long long ld, int rows, int columns, int column, const T* R, const int* labels,
            long long ldr, int pivot, int count, int* cycle, unsigned* arrived) {
    constexpr int WIDE = 16 / sizeof(T);
    using Row = Vector<T, WIDE>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int across = (columns + 32 * WIDE - 1) / (32 * WIDE), down = (rows + THROUGH_WARPS - 1) / THROUGH_WARPS;
    for (int t = 0; t < count; ++t) {
        const T* r = R + t * ldr;
        const int* label = labels ? labels + t * ldr : nullptr;
        if (__ldcg(r + column + t) < T(0)) {
            if (blockIdx.x == 0 && threadIdx.x == 0) atomicMin(cycle, pivot + t);
            return;
        }
        for (long long tile = blockIdx.x; tile < static_cast<long long>(across) * down; tile += gridDim.x) {
            const int i = static_cast<int>(tile / across) * THROUGH_WARPS + warp;
            const int j = (static_cast<int>(tile % across) * 32 + lane) * WIDE;
            if (i >= rows || j >= columns) continue;
            T* own = D + i * ld + j;
            Row d = load_past_l1(reinterpret_cast<const Row*>(own));
            const Row right = load_past_l1(reinterpret_cast<const Row*>(r + j));
            const auto left = Element<T>::value(__ldcg(D + i * ld + column + t));
            bool fell = false;
#pragma unroll
            for (int v = 0; v < WIDE; ++v) {
                const auto sum = left + Element<T>::value(right.at[v]);
                if (j + v >= columns || !(sum < Element<T>::value(d.at[v]))) continue;
                d.at[v] = Element<T>::stored(sum);
                fell = true;
                if (P) P[i * ld + j + v] = label ? __ldcg(label + j + v) : pivot + t;
            }
            if (fell) *reinterpret_cast<Row*>(own) = d;
        }
        if (t + 1 < count) grid_barrier(arrived);
    }
}

// A small matrix from the input to the result, in one cooperative launch: weights are encoded as they are read, and
// distances decoded as they are written, as `encode` and `decode` do (weights.cu). A block holds a tile of SQUARE x
// SQUARE elements in registers, a thread QUAD of them, one below the other. In a round the blocks take SQUARE pivots
// one after the other. Each block carries copies of the three tiles on which its own depends: the pivots' diagonal tile
// K, and the tiles R and C of the pivots' rows and columns that meet its own. So a pivot costs a barrier of the block,
// not of the grid. Then the blocks that have the next pivots' rows or columns put their tiles on the board, and the
// grid waits. The board has room for two rounds, as tiles
// of the next one are written while those of this one are read.
//
// The matrix that is given may be D itself. `board` and `labels` have room for 4 tiles per row of tiles. With `paths`,
// a label is the predecessor. found[0] is the barrier's, found[1] becomes int's largest value less the first pivot of
// negative weight, found[2] is set if a weight is not from -most to most, found[3] if a distance that is reached is
// less than `lowest` or greater than `highest`.
//
// Cost. 4 n^3 additions and minima, as a block also updates its three copies. A round takes 32 x 50 ns, the latency of
// shared memory.
constexpr int SQUARE = 32;
constexpr int QUAD = 4;

template <typename T, bool LABELLED>
__global__ void __launch_bounds__(SQUARE* SQUARE / QUAD, 2)
    eliminate(const T* given, long long down, long long across, T* D, int* P, long long ld, long long ldp, int n,
              bool paths, int most, int lowest, int highest, int unreached, T* board, int* labels, int* found) {
    using Value = typename Element<T>::Value;
    using Quad = Vector<Value, QUAD>;
    // What a pivot needs of the tiles K, C and R: its columns of K and C, its rows of K and R.
    __shared__ __align__(32) Value left[2][2][SQUARE];
    __shared__ Value right[2][2][SQUARE];
    __shared__ int vias[2][SQUARE];
    constexpr bool INTEGER = T(1) / T(2) == T(0);
    constexpr T MISSING = INTEGER ? T((1ull << (8 * sizeof(T) - 1)) - 1) : T(0);  // an integer's largest value
    const int x = threadIdx.x % SQUARE, warp = threadIdx.x / SQUARE, top = QUAD * warp;
    const int tiles = (n + SQUARE - 1) / SQUARE, row = blockIdx.x / tiles, column = blockIdx.x % tiles;
    auto load = [&](Value(&tile)[QUAD], int(&label)[QUAD], int i, int j) {  // from the matrix that is given
#pragma unroll
        for (int s = 0; s < QUAD; ++s) {
            const int v = i * SQUARE + top + s, w = j * SQUARE + x;
            const bool inside = v < n && w < n;
            T weight = inside ? given[v * down + w * across] : T(0);
            if (v == w && weight > T(0)) weight = T(0);
            bool absent = !inside;
            if constexpr (INTEGER) {
                absent |= weight == MISSING;
                if (!absent && (weight > most || weight < -most)) found[2] = 1;
            }
            tile[s] = absent ? infinity<T>() : Element<T>::value(weight + T(0));  // no negative zero
            if constexpr (LABELLED) label[s] = paths && v != w && tile[s] < infinity<T>() ? v : -9999;
        }
    };
    auto place = [&](int round, int side, int t) {  // a thread's place on the board, in a tile of rows (0) or columns
        return ((round % 2 * 2 + side) * tiles + t) * SQUARE * SQUARE + top * SQUARE + x;
    };
    auto post = [&](const Value(&tile)[QUAD], const int(&label)[QUAD], int to) {
#pragma unroll
        for (int s = 0; s < QUAD; ++s) {
            board[to + s * SQUARE] = Element<T>::stored(tile[s]);
            if constexpr (LABELLED) labels[to + s * SQUARE] = label[s];
        }
    };
    auto fetch = [&](Value(&tile)[QUAD], int(&label)[QUAD], int from) {
#pragma unroll
        for (int s = 0; s < QUAD; ++s) {
            tile[s] = Element<T>::value(__ldcg(board + from + s * SQUARE));
            if constexpr (LABELLED) label[s] = __ldcg(labels + from + s * SQUARE);
        }
    };

    Value own[QUAD], K[QUAD], R[QUAD], C[QUAD];
    int label[QUAD], via[QUAD];
    load(own, label, row, column);
    load(K, via, 0, 0);
    load(C, via, row, 0);
    load(R, via, 0, column);  // last, as its labels stay
    for (int round = 0; round < tiles; ++round) {
        const int first = round * SQUARE, count = min(SQUARE, n - first);
        auto show = [&](int p, int s) {  // pivot p, whose row is the s-th of its warp's
            if (p / QUAD == warp) {
                right[p % 2][0][x] = K[s];
                right[p % 2][1][x] = R[s];
                if constexpr (LABELLED) vias[p % 2][x] = paths ? via[s] : first + p;
                if (blockIdx.x == 0 && x == p && K[s] < Value(0)) atomicMax(found + 1, 0x7fffffff - (first + p));
            }
            if (x == p) {
                Quad k, c;
#pragma unroll
                for (int q = 0; q < QUAD; ++q) k.at[q] = K[q], c.at[q] = C[q];
                *reinterpret_cast<Quad*>(&left[p % 2][0][top]) = k;
                *reinterpret_cast<Quad*>(&left[p % 2][1][top]) = c;
            }
        };
        show(0, 0);
        __syncthreads();
        for (int group = 0; group < count; group += QUAD) {
#pragma unroll
            for (int t = 0; t < QUAD; ++t) {
                const int p = group + t;
                if (p >= count) break;
                const Quad k = *reinterpret_cast<const Quad*>(&left[p % 2][0][top]);
                const Quad c = *reinterpret_cast<const Quad*>(&left[p % 2][1][top]);
                const Value below = right[p % 2][0][x], beside = right[p % 2][1][x];
                int passed = 0;
                if constexpr (LABELLED) passed = vias[p % 2][x];
#pragma unroll
                for (int s = 0; s < QUAD; ++s) {
                    K[s] = relaxed(K[s], k.at[s], below);
                    C[s] = relaxed(C[s], c.at[s], below);
                    relax<LABELLED>(R[s], via[s], k.at[s], beside, passed);
                    relax<LABELLED>(own[s], label[s], c.at[s], beside, passed);
                }
                if (p + 1 < count) show(p + 1, (t + 1) % QUAD);
                __syncthreads();
            }
        }
        const int next = round + 1;
        if (next == tiles) break;
        if (row == next) post(own, label, place(next, 0, column));
        if (column == next) post(own, label, place(next, 1, row));
        grid_barrier(reinterpret_cast<unsigned*>(found));
        fetch(K, via, place(next, 0, next));
        fetch(C, via, place(next, 1, row));
        fetch(R, via, place(next, 0, column));  // last, as its labels stay
    }
#pragma unroll
    for (int s = 0; s < QUAD; ++s) {
        const int v = row * SQUARE + top + s, w = column * SQUARE + x;
        if (v >= n || w >= n) continue;
        T distance = Element<T>::stored(own[s]);
        if constexpr (INTEGER) {
            if (distance >= unreached) {
                distance = MISSING;
                label[s] = -9999;
            } else if (distance < lowest || distance > highest) {
                found[3] = 1;
            }
        }
        D[v * ld + w] = distance;
        if constexpr (LABELLED) P[v * ldp + w] = label[s];
    }
}

// Set the positive elements of the diagonal to zero; it begins at D[row, column] and has `length` elements.
template <typename T> __global__ void clip_diagonal(T* D, long long ld, int row, int column, int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length) return;
    T& d = D[(row + i) * ld + column + i];
    if (d > T(0)) d = T(0);
}

// P = the source of each edge, -9999 where there is none and on the diagonal. The first row and the first column of D
// are those of the vertices `first` and `left`. A block has 32 columns of 8 rows.
template <typename T>
__global__ void label_edges(const T* D, long long ld, int rows, int columns, int first, int left, int* P,
                            long long ldp) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows || j >= columns) return;
    const bool edge = Element<T>::value(D[i * ld + j]) < infinity<T>() && first + i != left + j;
    P[i * ldp + j] = edge ? first + i : -9999;
}

// Edges into a matrix that is all infinity: d[v, w] = the least weight of the edges from v to w. A warp a
// row; indices ascend, so repeated edges are neighbours and the first of them takes their minimum.
template <typename T, typename Offset>
__global__ void scatter(T* D, long long ld, int rows, const Offset* indptr, const int* indices, const T* weights) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (v >= rows) return;
    const Offset first = indptr[v], end = indptr[v + 1];
    for (Offset e = first + lane; e < end; e += 32) {
        const int w = indices[e];
        if (e > first && indices[e - 1] == w) continue;
        T least = weights[e];
        for (Offset next = e + 1; next < end && indices[next] == w; ++next)
            least = weights[next] < least ? weights[next] : least;
        D[v * ld + w] = least;
    }
}
