// Hierarchies: customization, climbs, and sweeps from many sources at a time.
//
// Algorithm. Vertices are numbered by rank, the order of their elimination, which is a postorder of the elimination
// tree. Entry e of vertex v, from begin[v] to begin[v + 1], belongs to an ancestor, upper[e]; up[e] is the length from v
// to it, down[e] the length back.
//
// - `eliminate` lowers the entries between the upper neighbours of each vertex to the paths over it (min-plus
//   elimination), level by level from the deepest vertices to the roots. A warp takes an entry (x, u) and the later
//   entries (x, w) of the same vertex; the place of w among the entries of u is found by bisection.
// - `climb` walks from a source to its root, a warp a source, and keeps the lengths of upward paths by the depth of the
//   ancestor.
// - `sweep` goes down the tree, level by level in one cooperative launch. The label of a vertex is the least sum of an
//   ancestor's label and an entry, or what the climb found, if the source is below the vertex. A thread has a few
//   sources, the same ones in the whole launch, so measures of distances are summed in registers. In a level of few
//   vertices a block takes a vertex and deals out its entries to the warps.
// - `gather` writes the labels of chosen vertices as rows of distances.
//
// Encoding. The label of vertex schedule[p] from source s is labels[p * pitch + s]; `pitch` is a multiple of the sources
// that a warp has. where[v] is the place p of vertex v. steps[k] to steps[k + 1] are the places of level k. Infinity is
// that of infinity.cuh. A subtree is a range of ranks, so source s lies below v if v - size[v] < s <= v.
//
// Races. Entries are lowered by atomic minima, and read by levels after the barrier; so are labels, which one warp
// writes. Only `lower` of distances.cuh changes an entry, so bits do not depend on the order.
//
// Cost. `eliminate`: a bisection and an atomic minimum, if it lowers anything, for each pair of entries of a vertex.
// `sweep`: a label read for each entry and source, mostly from the L2, and one written for each vertex with anything
// below it, or for all; a barrier for each level.
//
// Sources. B. A. Carré, "An algebra for network routing problems", 1971; J. Dibbelt, B. Strasser, D. Wagner,
// "Customizable contraction hierarchies", 2016; D. Delling, A. Goldberg, A. Nowatzyk, R. Werneck, "PHAST:
// hardware-accelerated shortest path trees", 2011.

#include "warp.cuh"
#include "grid.cuh"
#include "infinity.cuh"
#include "distances.cuh"
#include "relaxed.cuh"

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int RESIDENT = 3;  // blocks a multiprocessor
constexpr int RADII = 16;    // radii of a launch
constexpr int TILE = 32;

// An entry is at least as short as the edges that lie in it.
template <typename T>
__global__ void __launch_bounds__(THREADS) place(const int* entry, const int* edge, int count, const T* lengths, T* up) {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < count) lower(up + entry[k], sum(lengths[edge[k]], T(0)));
}

// The number of a vertex that is among the entries from `first` on, before `last`.
__device__ __forceinline__ int entry_of(const int* upper, int first, int last, int vertex) {
    while (last - first > 1) {
        const int middle = first + (last - first) / 2;
        if (upper[middle] <= vertex)
            first = middle;
        else
            last = middle;
    }
    return first;
}

template <typename T> __device__ __forceinline__ void lower_if_less(T* at, T length) {
    if (length < __ldcg(at)) lower(at, length);
}

// Entry entries[k] belongs to a vertex whose last entry is before ends[k]; levels[step] is the first k of a level.
template <typename T>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    eliminate(const int* entries, const int* ends, const int* levels, int steps, const int* begin, const int* upper,
              T* up, T* down, unsigned* arrived) {
    const int lane = threadIdx.x % 32, warps = gridDim.x * WARPS;
    for (int step = 0; step < steps; ++step) {
        for (int k = levels[step] + blockIdx.x * WARPS + threadIdx.x / 32; k < levels[step + 1]; k += warps) {
            const int e = entries[k], end = ends[k], u = upper[e];
            const T there = __ldcg(down + e), back = __ldcg(up + e);  // from u to the vertex, and from it to u
            int first = begin[u];
            const int last = begin[u + 1];
            for (int f = e + 1 + lane; f < end; f += 32) {
                first = entry_of(upper, first, last, upper[f]);
                lower_if_less(up + first, sum(there, __ldcg(up + f)));
                if (down != up) lower_if_less(down + first, sum(__ldcg(down + f), back));
            }
        }
        grid_barrier(arrived);
    }
}

// climbs[s * height + d] = the length of the shortest upward path from sources[s] to its ancestor at depth d.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    climb(const int* sources, int count, const int* parent, const int* depth, const int* begin, const int* depths,
          const T* up, T* climbs, int height) {
    const int s = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (s >= count) return;
    T* label = climbs + static_cast<long long>(s) * height;
    int v = sources[s], d = depth[v];
    for (int k = lane; k <= d; k += 32) label[k] = k < d ? infinity<T>() : T(0);
    __syncwarp();
    while (v >= 0) {
        const T own = label[d];
        if (own < infinity<T>()) {
            for (int e = begin[v] + lane; e < begin[v + 1]; e += 32) {
                const T through = sum(own, up[e]);
                if (through < label[depths[e]]) label[depths[e]] = through;
            }
        }
        __syncwarp();
        v = parent[v];
        --d;
    }
}

// A thread's labels of a vertex. Labels change during a launch, so they are read from the L2, which all blocks share.
template <typename T, int V> struct Row {
    alignas(V == 1 ? sizeof(T) : 16) T at[V];

    static __device__ __forceinline__ Row read(const T* from) {
        Row row;
        if constexpr (V == 1) {
            row.at[0] = __ldcg(from);
        } else {
            static_assert(V * sizeof(T) == 16);
            *reinterpret_cast<uint4*>(row.at) = __ldcg(reinterpret_cast<const uint4*>(from));
        }
        return row;
    }
    __device__ __forceinline__ void write(T* to) const { *reinterpret_cast<Row*>(to) = *this; }
    __device__ __forceinline__ void relax(const Row& other, T length) {
#pragma unroll
        for (int i = 0; i < V; ++i) at[i] = relaxed(at[i], other.at[i], length);
    }
};

// Labels of `sources`, which are -1 beyond the last one. Each target counts times[p] times; if `radii`, of which there
// are `count`, are given, `within` has for each block of a group a row for each radius. Each warp of a group has a row of
// `pitch` of the other measures.
template <typename T, int V, bool MEASURE>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    sweep(const int* schedule, const int* steps, int levels, const int* where, const int* depth, const int* size,
          const int* begins, const int* upper, const T* down, const int* sources, const T* climbs, int height,
          T* labels, int pitch, unsigned* arrived, const int* times, T limit, const T* radii, int count,
          double* all_greatest, double* all_reached, double* all_total, double* all_inverse, int* all_within) {
    __shared__ Row<T, V> shared[WARPS][32];
    __shared__ int within[MEASURE ? RADII * 32 * V : 1];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int groups = pitch / (32 * V), group = blockIdx.x % groups;
    const int member = blockIdx.x / groups, members = (gridDim.x - group + groups - 1) / groups;
    const int first = group * 32 * V + lane * V;  // of this thread's sources
    int own[V];
    T greatest[V];  // minus infinity without a target
    double total[V], inverse[V];
    int reached[V];
#pragma unroll
    for (int i = 0; i < V; ++i) {
        own[i] = sources[first + i];
        greatest[i] = -infinity<T>();
        total[i] = inverse[i] = 0;
        reached[i] = 0;
    }
    if constexpr (MEASURE) {
        for (int i = threadIdx.x; i < RADII * 32 * V; i += THREADS) within[i] = 0;
        __syncthreads();
    }

    // The least sum of a label and an entry, of some entries; the lanes look up 32 of them at a time.
    const auto least = [&](int from, int to) {
        Row<T, V> row;
#pragma unroll
        for (int i = 0; i < V; ++i) row.at[i] = infinity<T>();
        for (int base = from; base < to; base += 32) {
            const bool there = base + lane < to;
            const int place = there ? where[upper[base + lane]] : 0;
            const T length = there ? down[base + lane] : infinity<T>();
            const int some = min(32, to - base);
#pragma unroll 3  // by four, measures would spill
            for (int i = 0; i < some; ++i) {
                const long long at = static_cast<long long>(__shfl_sync(ALL, place, i)) * pitch;
                row.relax(Row<T, V>::read(labels + at + first), __shfl_sync(ALL, length, i));
            }
        }
        return row;
    };

    // Take what the climbs found, write the labels, and measure them.
    const auto settle = [&](int p, int v, Row<T, V> row) {
        const int below = size[v];
#pragma unroll
        for (int i = 0; i < V; ++i) {
            if (static_cast<unsigned>(v - own[i]) < static_cast<unsigned>(below)) {
                const T climbed = climbs[static_cast<long long>(first + i) * height + depth[v]];
                row.at[i] = climbed < row.at[i] ? climbed : row.at[i];
            }
        }
        if (!MEASURE || below > 1) row.write(labels + static_cast<long long>(p) * pitch + first);
        if constexpr (MEASURE) {
            const int often = times[p];
            if (often == 0) return;
#pragma unroll
            for (int i = 0; i < V; ++i) {
                const T d = row.at[i];
                if (!(d <= limit)) {
                    greatest[i] = infinity<T>();
                    continue;
                }
                greatest[i] = d > greatest[i] ? d : greatest[i];
                reached[i] += often;
                const double length = static_cast<double>(d);
                total[i] += often * length;
                if (all_inverse != nullptr && d != T(0)) inverse[i] += often / length;
                int* at = within + lane * V + i;
                for (int r = 0; r < count; ++r, at += 32 * V)
                    if (d <= radii[r]) atomicAdd(at, often);
            }
        }
    };

    for (int step = 0; step < levels; ++step) {
        const int begin = steps[step], end = steps[step + 1];
        if (end - begin <= members) {
            for (int p = begin + member; p < end; p += members) {
                const int v = schedule[p], from = begins[v], to = begins[v + 1];
                const int each = (to - from + WARPS - 1) / WARPS;
                shared[warp][lane] = least(from + min(warp * each, to - from), min(from + (warp + 1) * each, to));
                __syncthreads();
                if (warp == 0) {
                    Row<T, V> row = shared[0][lane];
                    for (int w = 1; w < WARPS; ++w) row.relax(shared[w][lane], T(0));
                    settle(p, v, row);
                }
                __syncthreads();
            }
        } else {
            for (int p = begin + member * WARPS + warp; p < end; p += members * WARPS) {
                const int v = schedule[p];
                settle(p, v, least(begins[v], begins[v + 1]));
            }
        }
        grid_barrier(arrived);
    }

    if constexpr (MEASURE) {
        const long long row = static_cast<long long>(member * WARPS + warp) * pitch + first;
#pragma unroll
        for (int i = 0; i < V; ++i) {
            const T most = greatest[i];
            all_greatest[row + i] = most == infinity<T>()    ? infinity<double>()
                                    : most == -infinity<T>() ? -infinity<double>()
                                                             : static_cast<double>(most);
            all_reached[row + i] = reached[i];
            all_total[row + i] = total[i];
            if (all_inverse != nullptr) all_inverse[row + i] = inverse[i];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count * 32 * V; i += THREADS) {
            const int r = i / (32 * V), source = group * 32 * V + i % (32 * V);
            all_within[(static_cast<long long>(member) * count + r) * pitch + source] = within[i];
        }
    }
}

// D[s, j] = the label of the vertex at places[j] from source s, or `unreached` if it is infinite or beyond the limit.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    gather(const T* labels, int pitch, const int* places, int columns, int sources, T limit, T unreached, T* D,
           long long leading) {
    __shared__ T tile[TILE][TILE + 1];
    const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    const int column = blockIdx.x * TILE, source = blockIdx.y * TILE;
    for (int j = y; j < TILE && column + j < columns; j += THREADS / TILE) {
        if (source + x < sources) {
            const T d = labels[static_cast<long long>(places[column + j]) * pitch + source + x];
            tile[j][x] = d <= limit ? d : unreached;
        }
    }
    __syncthreads();
    for (int s = y; s < TILE && source + s < sources; s += THREADS / TILE)
        if (column + x < columns) D[(source + s) * leading + column + x] = tile[x][s];
}
