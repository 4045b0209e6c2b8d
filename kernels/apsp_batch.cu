// All-pairs shortest paths of many small graphs: a block each, so that one launch solves thousands.
//
// Hop counts. A row of the adjacency matrix is a bitmap of W words in shared memory. A thread searches from one source:
// it unites the rows of the vertices on a level, and what is new is the next level. Each vertex is taken once, so a
// source costs n W words, however many edges there are.
//
// Weighted. The algorithm of Floyd and Warshall. Up to MOST vertices the matrix is in registers, a sample of SAMPLES x
// SAMPLES elements a thread, and a pivot's row and column pass through shared memory: one barrier a pivot. A larger
// matrix stays in global memory. It is eliminated by PIVOTS pivots at a time, as kernels/minplus.cu explains: the rows
// and columns of the pivots, each as it is at the pivot's own turn, are in shared memory, and the matrix is read and
// written once. Both compare the sums of the unblocked algorithm, so results are equal to the last bit.
//
// Encoding. Graph g has its vertices, `starts[g]` to `starts[g + 1]`, in a row; they are numbered from 0 in the
// results, which are matrices of side x side, row by row. Of these a graph of n vertices has the first n rows and
// columns; the rest is not touched. Weighted distances begin as the edges' weights, and infinity elsewhere
// (infinity.cuh). Bitmaps have a row of `words` words for each row of the results.
//
// Sources. R. W. Floyd, "Algorithm 97: Shortest path", 1962; Venkataraman, Sahni and Mukhopadhyaya, "A blocked
// all-pairs shortest-paths algorithm", 2003.

#include "warp.cuh"
#include "infinity.cuh"
#include "distances.cuh"
#include "relaxed.cuh"

constexpr int NO_PREDECESSOR = -9999;

// An edge's place: its graph, its row in all matrices together, and its column.
struct Place {
    long long row;
    int column;
};

// Find an edge's place. An edge whose ends are no vertices, or lie in different graphs, has none: `bad` becomes the
// least such edge.
__device__ __forceinline__ bool placed(const long long* src, const long long* dst, long long e, const long long* batch,
                                       long long vertices, const long long* starts, int side, long long* bad,
                                       Place& place) {
    const long long u = src[e], v = dst[e];
    if (u < 0 || u >= vertices || v < 0 || v >= vertices || batch[u] != batch[v]) {
        atomicMin(bad, e);
        return false;
    }
    const long long g = batch[u], first = starts[g];
    place = {g * side + (u - first), static_cast<int>(v - first)};
    return true;
}

// Set the bit of each edge.
__global__ void mark(const long long* src, const long long* dst, long long edges, const long long* batch,
                     long long vertices, const long long* starts, int side, unsigned* bits, int words,
                     long long* bad) {
    const long long e = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    Place place;
    if (e < edges && placed(src, dst, e, batch, vertices, starts, side, bad, place))
        atomicOr(bits + place.row * words + place.column / 32, 1u << place.column % 32);
}

// Lower the distance of each edge to its weight.
template <typename T>
__global__ void lay(const long long* src, const long long* dst, long long edges, const long long* batch,
                    long long vertices, const long long* starts, int side, const T* weights, T* distances,
                    long long* bad) {
    const long long e = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    Place place;
    if (e < edges && placed(src, dst, e, batch, vertices, starts, side, bad, place))
        lower(distances + place.row * side + place.column, weights[e]);
}

// Hop counts of graphs of up to 32 W vertices, a thread a source. Distances, and predecessors, are infinity and
// NO_PREDECESSOR before; infinity is `most` + 1. If a distance is beyond `most`, `beyond` becomes 1.
template <int W, typename T, bool PATHS>
__global__ void __launch_bounds__(32 * W)
    hops(const unsigned* bits, int words, const int* order, const int* lengths, int side, int most, T* distances,
         int* predecessors, int* beyond) {
    constexpr bool STAGED = W <= 4;        // results pass through shared memory, so that rows are written in one piece
    constexpr int PITCH = 32 * W + 4;      // bytes of a row there, an odd number of words
    constexpr unsigned char NONE = 0xff;
    __shared__ unsigned rows[32 * W][W | 1];
    __shared__ unsigned staged[STAGED ? 8 * W * PITCH : 1];
    unsigned char* const levels = reinterpret_cast<unsigned char*>(staged);
    const long long g = order[blockIdx.x];
    const int n = lengths[g], s = threadIdx.x;
    for (int at = threadIdx.x; at < n * W; at += 32 * W) {
        const int v = at / W, w = at % W, left = n - 32 * w;  // columns of this word that are vertices
        const unsigned word = left > 0 ? bits[(g * side + v) * words + w] : 0;
        rows[v][w] = left > 0 && left < 32 ? word & ((1u << left) - 1) : word;
    }
    if constexpr (STAGED)
        for (int at = threadIdx.x; at < n * PITCH / 4; at += 32 * W) staged[at] = 0xffffffffu;
    __syncthreads();
    if (s < n) {
        T* const found = distances + (g * side + s) * side;
        int* const before = PATHS ? predecessors + (g * side + s) * side : nullptr;
        unsigned seen[W], front[W];
#pragma unroll
        for (int w = 0; w < W; ++w) seen[w] = front[w] = s / 32 == w ? 1u << s % 32 : 0;
        bool any = true;
        for (int level = 0; any; ++level) {
            if (level > most) {
                *beyond = 1;
                break;
            }
            unsigned next[W] = {};
#pragma unroll
            for (int w = 0; w < W; ++w)
                for (unsigned rest = front[w]; rest; rest &= rest - 1) {
                    const int u = 32 * w + __ffs(rest) - 1;
                    if constexpr (STAGED)
                        levels[s * PITCH + u] = static_cast<unsigned char>(level);
                    else
                        found[u] = static_cast<T>(level);
#pragma unroll
                    for (int x = 0; x < W; ++x) {
                        unsigned fresh = rows[u][x];
                        if constexpr (PATHS) {  // vertices of a level ascend, so the first one is the least
                            fresh &= ~(seen[x] | next[x]);
                            for (unsigned own = fresh; own; own &= own - 1) before[32 * x + __ffs(own) - 1] = u;
                        }
                        next[x] |= fresh;
                    }
                }
            any = false;
#pragma unroll
            for (int w = 0; w < W; ++w) {
                front[w] = next[w] & ~seen[w];
                seen[w] |= front[w];
                any |= front[w] != 0;
            }
        }
    }
    if constexpr (STAGED) {
        __syncthreads();
        for (int i = threadIdx.x / 32; i < n; i += W)
            for (int j = threadIdx.x % 32; j < n; j += 32) {
                const unsigned char level = levels[i * PITCH + j];
                if (level != NONE) distances[(g * side + i) * side + j] = static_cast<T>(level);
            }
    }
}

// Relax d through a + b; with PATHS, its label becomes that of b.
template <bool PATHS, typename T> __device__ __forceinline__ void relax(T& d, int& label, T a, T b, int other) {
    if constexpr (PATHS) {
        const T s = a + b;
        if (s < d) {
            d = s;
            label = other;
        }
    } else {
        d = relaxed(d, a, b);
    }
}

// Weighted distances of graphs of up to SIDE * SAMPLES vertices, by SIDE x SIDE threads a graph. `cycles[g]` becomes
// the first pivot of negative weight, which lies on a negative cycle; the graph's distances are then of no use.
template <typename T, int SIDE, int SAMPLES, bool PATHS>
__global__ void __launch_bounds__(SIDE* SIDE)
    solve(const int* order, const int* lengths, int side, T* distances, int* predecessors, int* cycles) {
    constexpr int MOST = SIDE * SAMPLES;
    __shared__ T lefts[2][MOST], rights[2][MOST];
    __shared__ int labels[2][PATHS ? MOST : 1];
    const long long g = order[blockIdx.x];
    const int n = lengths[g], x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    T* const D = distances + g * side * side;
    int* const P = PATHS ? predecessors + g * side * side : nullptr;
    T m[SAMPLES][SAMPLES];
    int label[SAMPLES][SAMPLES];
#pragma unroll
    for (int p = 0; p < SAMPLES; ++p)
#pragma unroll
        for (int q = 0; q < SAMPLES; ++q) {
            const int i = y + SIDE * p, j = x + SIDE * q;
            T d = i < n && j < n ? D[i * side + j] : infinity<T>();
            if (i == j) d = d < T(0) ? d : T(0);
            m[p][q] = d;
            if constexpr (PATHS) label[p][q] = i != j && d < infinity<T>() ? i : NO_PREDECESSOR;
        }
#pragma unroll
    for (int h = 0; h < SAMPLES; ++h)
        for (int t = 0; t < SIDE && SIDE * h + t < n; ++t) {
            const int k = SIDE * h + t;
            T *const left = lefts[t % 2], *const right = rights[t % 2];
            if (y == t) {
#pragma unroll
                for (int q = 0; q < SAMPLES; ++q) {
                    right[x + SIDE * q] = m[h][q];
                    if constexpr (PATHS) labels[t % 2][x + SIDE * q] = label[h][q];
                }
            }
            if (x == t) {
#pragma unroll
                for (int p = 0; p < SAMPLES; ++p) left[y + SIDE * p] = m[p][h];
            }
            __syncthreads();
            if (right[k] < T(0)) {
                if (threadIdx.x == 0) cycles[g] = k;
                return;
            }
            T l[SAMPLES], r[SAMPLES];
            int other[SAMPLES];
#pragma unroll
            for (int p = 0; p < SAMPLES; ++p) {
                l[p] = left[y + SIDE * p];
                r[p] = right[x + SIDE * p];
                if constexpr (PATHS) other[p] = labels[t % 2][x + SIDE * p];
            }
#pragma unroll
            for (int p = 0; p < SAMPLES; ++p)
#pragma unroll
                for (int q = 0; q < SAMPLES; ++q) relax<PATHS>(m[p][q], label[p][q], l[p], r[q], other[q]);
        }
#pragma unroll
    for (int p = 0; p < SAMPLES; ++p)
#pragma unroll
        for (int q = 0; q < SAMPLES; ++q) {
            const int i = y + SIDE * p, j = x + SIDE * q;
            if (i < n && j < n) {
                D[i * side + j] = m[p][q];
                if constexpr (PATHS) P[i * side + j] = label[p][q];
            }
        }
}

constexpr int PIVOTS = 16;             // eliminated at a time
constexpr int ACROSS = 4;              // columns of a thread in a tile, 32 apart
constexpr int WARPS = 8;

// The same of larger graphs, by one block each. `pitch` is the length of a row in shared memory: odd, and at least side
// rounded up to whole tiles.
template <typename T, bool PATHS>
__global__ void __launch_bounds__(32 * WARPS, 2)
    eliminate(const int* order, const int* lengths, int side, int pitch, T* distances, int* predecessors,
              int* cycles) {
    extern __shared__ __align__(16) char shared[];
    T* const R = reinterpret_cast<T*>(shared);
    T* const C = R + PIVOTS * pitch;
    short* const labels = reinterpret_cast<short*>(C + PIVOTS * pitch);
    constexpr int THREADS = 32 * WARPS, DOWN = PATHS || sizeof(T) == 8 ? 4 : 8;  // rows of a tile: two blocks fit
    const long long g = order[blockIdx.x];
    const int n = lengths[g], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T* const D = distances + g * side * side;
    int* const P = PATHS ? predecessors + g * side * side : nullptr;
    for (int i = warp; i < n; i += WARPS)
        for (int j = lane; j < n; j += 32) {
            if (i == j && !(D[i * side + j] < T(0))) D[i * side + j] = T(0);
            if constexpr (PATHS) P[i * side + j] = i != j && D[i * side + j] < infinity<T>() ? i : NO_PREDECESSOR;
        }
    __syncthreads();
    for (int first = 0; first < n; first += PIVOTS) {
        const int b = min(PIVOTS, n - first);
        for (int k = warp; k < b; k += WARPS)
            for (int j = lane; j < pitch; j += 32) {
                R[k * pitch + j] = j < n ? D[(first + k) * side + j] : infinity<T>();
                if constexpr (PATHS) labels[k * pitch + j] = j < n ? P[(first + k) * side + j] : NO_PREDECESSOR;
            }
        for (int at = threadIdx.x; at < pitch * PIVOTS; at += THREADS) {
            const int i = at / PIVOTS, k = at % PIVOTS;
            if (k < b) C[k * pitch + i] = i < n ? D[i * side + first + k] : infinity<T>();
        }
        __syncthreads();
        for (int k = 0; k < b; ++k) {  // each later pivot's row and column through this pivot
            if (R[k * pitch + first + k] < T(0)) {
                if (threadIdx.x == 0) cycles[g] = first + k;
                return;
            }
            for (int later = k + 1; later < b; ++later) {
                const T down = C[k * pitch + first + later], across = R[k * pitch + first + later];
                for (int j = threadIdx.x; j < n; j += THREADS) {
                    T d = R[later * pitch + j];
                    int label = PATHS ? labels[later * pitch + j] : 0, none = 0;
                    relax<PATHS>(d, label, down, R[k * pitch + j], PATHS ? labels[k * pitch + j] : 0);
                    R[later * pitch + j] = d;
                    if constexpr (PATHS) labels[later * pitch + j] = static_cast<short>(label);
                    d = C[later * pitch + j];
                    relax<false>(d, none, C[k * pitch + j], across, 0);
                    C[later * pitch + j] = d;
                }
            }
            __syncthreads();
        }
        const int wide = (n + 32 * ACROSS - 1) / (32 * ACROSS), tiles = wide * ((n + DOWN - 1) / DOWN);
        for (int tile = warp; tile < tiles; tile += WARPS) {
            const int top = tile / wide * DOWN, own = tile % wide * (32 * ACROSS) + lane;
            T d[DOWN][ACROSS];
            int label[DOWN][ACROSS];
#pragma unroll
            for (int p = 0; p < DOWN; ++p)
#pragma unroll
                for (int q = 0; q < ACROSS; ++q) {
                    const int i = top + p, j = own + 32 * q;
                    const bool there = i < n && j < n;
                    d[p][q] = there ? D[i * side + j] : infinity<T>();
                    if constexpr (PATHS) label[p][q] = there ? P[i * side + j] : NO_PREDECESSOR;
                }
            for (int k = 0; k < b; ++k) {
                T r[ACROSS];
                int other[ACROSS];
#pragma unroll
                for (int q = 0; q < ACROSS; ++q) {
                    r[q] = R[k * pitch + own + 32 * q];
                    if constexpr (PATHS) other[q] = labels[k * pitch + own + 32 * q];
                }
#pragma unroll
                for (int p = 0; p < DOWN; ++p) {
                    const T c = C[k * pitch + top + p];
#pragma unroll
                    for (int q = 0; q < ACROSS; ++q) relax<PATHS>(d[p][q], label[p][q], c, r[q], other[q]);
                }
            }
#pragma unroll
            for (int p = 0; p < DOWN; ++p)
#pragma unroll
                for (int q = 0; q < ACROSS; ++q) {
                    const int i = top + p, j = own + 32 * q;
                    if (i < n && j < n) {
                        D[i * side + j] = d[p][q];
                        if constexpr (PATHS) P[i * side + j] = label[p][q];
                    }
                }
        }
        __syncthreads();
    }
}
