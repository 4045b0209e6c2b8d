// Hierarchies: customization, climbs, and sweeps from many sources at a time.
//
// Algorithm. Vertices are numbered by rank, the order of their elimination, which is a postorder of the elimination
// tree. Entry e of vertex v, from begin[v] to begin[v + 1], belongs to an ancestor, upper[e]; up[e] is the length from
// v to it, down[e] the length back.
//
// - `eliminate` lowers the entries between the upper neighbours of each vertex to the paths over it (min-plus
//   elimination), level by level from the deepest vertices to the roots. A warp takes an entry (x, u) and the later
//   entries (x, w) of the same vertex; the place of w among the entries of u is found by bisection.
//   `place_sets` and `eliminate_sets` do so for up to 32 sets of weights at once. A lane has a set, so what a warp reads
//   of an entry is contiguous, and its lanes look for the places of 32 entries w at a time. In a level of few entries,
//   several warps share an entry.
// - `climb` walks from a source to its root, a warp a source, and keeps the lengths of upward paths by the depth of the
//   ancestor.
// - A sweep goes down the tree. The label of a vertex is the least sum of an ancestor's label and an entry, or what the
//   climb found, if the source is below the vertex. The tree is cut into pieces, each a vertex and some of its
//   descendants, and these are dealt out to stages, from the roots to the leaves.
//   `descend` sweeps a stage. A warp takes a piece, and its threads a few sources each. It reads the labels of the
//   upper neighbours of the piece's root, which are all that the piece needs from above. It goes through the piece
//   depth first and keeps the labels of the vertex at hand and of its ancestors in a stack in shared memory. Each
//   thread reads only its own columns of the stack, so the stack needs no barrier.
//   `sweep` does the same, level by level in one cooperative launch, for the vertices at the top whose stack would have
//   more rows than the host allows (`STACKS` of pieces.py). In a level of few vertices a block takes a vertex and deals
//   out its entries to the warps.
// - `gather` copies labels to rows of distances. A leaf of the tree with few upper neighbours has no labels: where its
//   distances are written, they are made of the labels of these neighbours (columns.py).
//
// With a limit, and without negative lengths, paths end where they are longer: a piece without a source below its root
// is passed over if the labels of all its outer neighbours are beyond the limit. So sources are near each other in the
// tree, in the order of their ranks, and rows[s] is the row of distances of source s.
//
// A thread keeps its sources, so it sums their measures in registers: integers in 64 bits, floats as doubles. `descend`
// counts the vertices within the first two radii in registers, too; all others are counted in shared memory. `descend`
// measures a vertex while it reads the labels for the next one.
//
// Encoding. The label of vertex schedule[p] from source s is labels[p * pitch + s]; `pitch` is a multiple of the
// sources that a warp has. where[v] is the place p of vertex v. steps[k] to steps[k + 1] are the places of level k.
// With several sets of weights, the length of entry e by set s is up[e * sets + s] or down[e * sets + s]. Infinity is
// that of infinity.cuh. A subtree is a range of ranks, so source s lies below v if v - size[v] < s <= v. A
// piece is its first place, its first group of entries, its first upper neighbour in `outer`, and its root's depth; the
// next piece's numbers are its ends. A vertex has one group of entries or more. A group is four rows of the stack and
// four lengths. In the first group of a vertex, the first place is not an entry's. As a row, its low 16 bits are the
// row of the vertex itself, its high 16 bits the number of further groups; as a length, its low 32 bits say how often
// the vertex counts. Where a vertex has fewer entries, the last one is repeated. A vertex without any, a root of the
// tree, has row 0 with infinite lengths; that is its own row, which is unreached before.
//
// Races. Entries are lowered by atomic minima. Only `lower` of distances.cuh changes an entry, so bits do not depend on
// the order. A label is written by one warp. `eliminate` and `sweep` read what other warps have written after a
// barrier, `descend` after a launch. In `descend` a lane waits for the groups that it has copied, then for its warp: a
// chunk is whole before a lane reads it, and is overwritten after all lanes have read it.
//
// Cost. `eliminate`: a bisection and an atomic minimum, if it lowers anything, for each pair of entries of a vertex.
// `eliminate_sets`: a bisection for each pair, and a read of both entries' lengths for each pair and set, from the L2.
// `descend`: a read of a label from shared memory, an addition and a minimum for each entry and source; a group's rows
// and lengths are read once for a warp.
// `sweep`: a label read for each entry and source, mostly from the L2, and one written for each vertex with anything
// below it, or for all; a barrier for each level.
// `gather`: a label read and a distance written for each target and source; for a leaf a label for each entry, mostly
// from the L2.
//
// Sources. B. A. Carré, "An algebra for network routing problems", 1971; J. Dibbelt, B. Strasser, D. Wagner,
// "Customizable contraction hierarchies", 2016; D. Delling, A. Goldberg, A. Nowatzyk, R. Werneck, "PHAST:
// hardware-accelerated shortest path trees", 2011.

#include "warp.cuh"
#include "grid.cuh"
#include "infinity.cuh"
#include "distances.cuh"
#include "relaxed.cuh"
#include "copy_async.cuh"

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int RESIDENT = 3;   // blocks a multiprocessor
constexpr int GATHERING = 5;  // the same, of those that gather
constexpr int RADII = 16;     // radii of a launch
constexpr int TILE_BYTES = 512, TILE_SOURCES = 64;  // of a block that gathers: bytes of columns, and sources
constexpr int SQUARE = 8;                           // tiles on each side of a square
constexpr int AT_ONCE = 4;    // entries that a thread reads at once in a climb, and labels that it gathers
constexpr int SHARED = 5;     // with several sets of weights, at most 2^5 warps take an entry
constexpr int FIRST = 2;      // radii within which `descend` counts in registers
constexpr int CHUNK = 16, ROOM = 2 * CHUNK;  // groups of entries that it copies at a time, and has in shared memory

// An entry is at least as short as the edges that lie in it.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    place(const int* entry, const int* edge, unsigned count, const T* lengths, T* up) {
    const unsigned k = blockIdx.x * THREADS + threadIdx.x;
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
            const int last = begin[u + 1];
            int at = begin[u];  // among the entries of u
            for (int f = e + 1 + lane; f < end; f += 32) {
                at = entry_of(upper, at, last, upper[f]);
                lower_if_less(up + at, sum(there, __ldcg(up + f)));
                if (down != up) lower_if_less(down + at, sum(__ldcg(down + f), back));
            }
        }
        grid_barrier(arrived);
    }
}

// As `place`, for several sets of weights; lengths[set * pitch + e] is that of edge e. A warp takes an edge.
template <typename T>
__global__ void __launch_bounds__(THREADS) place_sets(const int* entry, const int* edge, unsigned count,
                                                      const T* lengths, long long pitch, int sets, T* up) {
    const unsigned k = blockIdx.x * WARPS + threadIdx.x / 32;
    const int set = threadIdx.x % 32;
    if (k < count && set < sets)
        lower(up + static_cast<long long>(entry[k]) * sets + set, sum(lengths[set * pitch + edge[k]], T(0)));
}

// The entries `from` and `to` of a lane's set that are read at once, of which the first `count` are meant.
struct Ways {
    long long from[AT_ONCE], to[AT_ONCE];

    // Lower the entries `to` to the sums of one length and those of the entries `from`.
    template <typename T> __device__ __forceinline__ void lower_all(int count, T length, T* lengths) const {
        T through[AT_ONCE], known[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            through[i] = i < count ? sum(length, __ldcg(lengths + from[i])) : infinity<T>();
            known[i] = i < count ? __ldcg(lengths + to[i]) : -infinity<T>();
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (through[i] < known[i]) lower(lengths + to[i], through[i]);
    }
};

// As `eliminate`, for several sets of weights. Lanes beyond the last set repeat it.
template <typename T>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    eliminate_sets(const int* entries, const int* ends, const int* levels, int steps, const int* begin,
                   const int* upper, int sets, T* up, T* down, unsigned* arrived) {
    const int lane = threadIdx.x % 32, warps = gridDim.x * WARPS;
    const long long pitch = sets, set = min(lane, sets - 1);
    for (int step = 0; step < steps; ++step) {
        const int first = levels[step], count = levels[step + 1] - first;
        int shift = 0;  // 2^shift warps take an entry, each every 2^shift-th of the later ones
        while (shift < SHARED && warps >> (shift + 1) >= count) ++shift;
        for (int task = blockIdx.x * WARPS + threadIdx.x / 32; task < count << shift; task += warps) {
            const int k = first + (task >> shift), e = entries[k], end = ends[k], u = upper[e];
            const T there = __ldcg(down + e * pitch + set), back = __ldcg(up + e * pitch + set);
            const int last = begin[u + 1];
            int at = begin[u];  // among the entries of u, that of the lane's entry
            for (int f = e + 1 + task % (1 << shift); f < end; f += 32 << shift) {
                const int own = f + (lane << shift), found = min(32, ((end - f - 1) >> shift) + 1);
                if (own < end) at = entry_of(upper, at, last, upper[own]);
                for (int i = 0; i < found; i += AT_ONCE) {
                    Ways ways;
#pragma unroll
                    for (int j = 0; j < AT_ONCE; ++j) {
                        ways.from[j] = (f + ((i + j) << shift)) * pitch + set;
                        ways.to[j] = __shfl_sync(ALL, at, i + j) * pitch + set;
                    }
                    ways.lower_all(found - i, there, up);
                    if (down != up) ways.lower_all(found - i, back, down);
                }
            }
        }
        grid_barrier(arrived);
    }
}

// climbs[s * height + d] = the length of the shortest upward path from sources[s] to its ancestor at depth d. What is
// longer than `bound` goes no further.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    climb(const int* sources, int count, const int* parent, const int* depth, const int* begin, const int* depths,
          const T* up, T* climbs, int height, T bound) {
    const int s = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (s >= count) return;
    T* label = climbs + static_cast<long long>(s) * height;
    int v = sources[s], d = depth[v];
    for (int k = lane; k <= d; k += 32) label[k] = k < d ? infinity<T>() : T(0);
    __syncwarp();
    while (v >= 0) {
        const T own = label[d];
        if (own <= bound && own < infinity<T>()) {
            const int end = begin[v + 1];
            for (int e = begin[v] + lane; e < end; e += 32 * AT_ONCE) {
                int at[AT_ONCE];  // of different depths
                T through[AT_ONCE], known[AT_ONCE];
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i) {
                    const bool there = e + 32 * i < end;
                    at[i] = there ? depths[e + 32 * i] : d;
                    through[i] = there ? sum(own, up[e + 32 * i]) : infinity<T>();
                }
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i) known[i] = label[at[i]];
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i)
                    if (through[i] < known[i]) label[at[i]] = through[i];
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

    static __device__ __forceinline__ Row unreached() {
        Row row;
#pragma unroll
        for (int i = 0; i < V; ++i) row.at[i] = infinity<T>();
        return row;
    }
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
    static __device__ __forceinline__ Row of_stack(const T* from) { return *reinterpret_cast<const Row*>(from); }
    static __device__ __forceinline__ Row through(const Row& other, T length) {
        Row row = unreached();
        if constexpr (static_cast<T>(0.5) == T(0))  // a sum of integers may be more than infinity
            row.relax(other, length);
        else
#pragma unroll
            for (int i = 0; i < V; ++i) row.at[i] = other.at[i] + length;
        return row;
    }
    __device__ __forceinline__ bool within(T bound) const {
        bool near = false;
#pragma unroll
        for (int i = 0; i < V; ++i) near |= at[i] <= bound;
        return near;
    }
    __device__ __forceinline__ void write(T* to) const { *reinterpret_cast<Row*>(to) = *this; }
    __device__ __forceinline__ void relax(const Row& other, T length) {
#pragma unroll
        for (int i = 0; i < V; ++i) at[i] = relaxed(at[i], other.at[i], length);
    }
};

// A thread's sources, which are -1 beyond the last one.
template <int V> struct Sources {
    int at[V];

    __device__ __forceinline__ explicit Sources(const int* from) {
#pragma unroll
        for (int i = 0; i < V; ++i) at[i] = from[i];
    }
    __device__ __forceinline__ bool lies_below(int i, int v, int size) const {
        return static_cast<unsigned>(v - at[i]) < static_cast<unsigned>(size);
    }
    // Lower the labels of vertex v to what the climbs found.
    template <typename T>
    __device__ __forceinline__ void climbed(int v, int size, int depth, const T* climbs, int height,
                                            Row<T, V>& row) const {
#pragma unroll
        for (int i = 0; i < V; ++i) {
            if (lies_below(i, v, size)) {
                const T found = climbs[static_cast<long long>(i) * height + depth];
                row.at[i] = found < row.at[i] ? found : row.at[i];
            }
        }
    }
};

// What a sweep measures, as bits of `WHAT`. If it is 0, it keeps the labels of all that it passes.
constexpr unsigned GREATEST = 1, REACHED = 2, TOTAL = 4, INVERSE = 8, WITHIN = 16, ANY = 31;

// What is asked of each source, and where it goes: rows of `pitch` of each measure, and of `within` a row for each
// radius. If `WHAT` is `ANY`, what is null is not asked for; otherwise all that it names is asked for. `total` and
// `inverse` need `reached`. No radius exceeds the limit. Each target counts times[p] times.
template <typename T> struct Asked {
    const int* times;
    T limit;
    const T* radii;
    int count;
    double *greatest, *reached, *total, *inverse;
    int* within;
};

// A thread's sum of integers is exact.
template <typename T> struct Sum { using type = double; };
template <> struct Sum<int> { using type = long long; };

// total + often * distance. The product of integers has 64 bits; in C++ its factors would have 64 bits, too.
__device__ __forceinline__ double with(double total, double distance, int often) { return total + distance * often; }
__device__ __forceinline__ long long with(long long total, int distance, int often) {
    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(total) : "r"(distance), "r"(often));
    return total;
}

// What a thread measures of the distances from its sources. If no other warp counts in `within` (`ALONE`), the counts
// of the first two radii are in registers. All other counts are in `within`, in shared memory, a row for each radius.
template <typename T, int V, unsigned WHAT, bool ALONE> struct Measured {
    static constexpr int HELD = ALONE ? FIRST : 0;  // radii whose counts are in registers
    using Total = typename Sum<T>::type;

    static __device__ __forceinline__ bool asks(unsigned what, const void* rows) {
        return WHAT == ANY ? rows != nullptr : (WHAT & what) != 0;
    }

    T greatest[V];  // minus infinity without a target
    Total total[V];
    double inverse[V];
    int reached[V], near[HELD + 1][V];
    T radius[HELD + 1];

    __device__ __forceinline__ explicit Measured(const Asked<T>& asked) {
#pragma unroll
        for (int r = 0; r < HELD; ++r) radius[r] = r < asked.count ? asked.radii[r] : -infinity<T>();
#pragma unroll
        for (int i = 0; i < V; ++i) {
            greatest[i] = -infinity<T>();
            total[i] = 0;
            inverse[i] = 0;
            reached[i] = 0;
#pragma unroll
            for (int r = 0; r < HELD; ++r) near[r][i] = 0;
        }
    }
    __device__ __forceinline__ void take(const Row<T, V>& row, int often, const Asked<T>& asked, int* within) {
        if (asks(GREATEST, asked.greatest)) {
#pragma unroll
            for (int i = 0; i < V; ++i) greatest[i] = row.at[i] > greatest[i] ? row.at[i] : greatest[i];
        }
        if (asks(REACHED, asked.reached)) {
#pragma unroll
            for (int i = 0; i < V; ++i) {
                if (row.at[i] > asked.limit) continue;
                reached[i] += often;
                if (asks(TOTAL, asked.total)) total[i] = with(total[i], row.at[i], often);
            }
            if (asks(INVERSE, asked.inverse)) {
#pragma unroll
                for (int i = 0; i < V; ++i)
                    if (row.at[i] <= asked.limit && row.at[i] != T(0))
                        inverse[i] += often / static_cast<double>(row.at[i]);
            }
        }
        if constexpr ((WHAT & WITHIN) == 0) return;
#pragma unroll
        for (int r = 0; r < HELD; ++r) {
            if (r == asked.count) return;
#pragma unroll
            for (int i = 0; i < V; ++i) near[r][i] += row.at[i] <= radius[r] ? often : 0;
        }
        for (int r = HELD; r < asked.count; ++r) {
#pragma unroll
            for (int i = 0; i < V; ++i) {
                int* const count = within + (r - HELD) * 32 * V + i;
                const int more = row.at[i] <= asked.radii[r] ? often : 0;
                if constexpr (ALONE)
                    *count += more;
                else if (more)
                    atomicAdd(count, more);
            }
        }
    }
    // Take targets that are beyond the limit.
    __device__ __forceinline__ void take_beyond() {
#pragma unroll
        for (int i = 0; i < V; ++i) greatest[i] = infinity<T>();
    }
    // Combine with what earlier launches found, at `place` of each measure; all but `within`.
    __device__ __forceinline__ void add_to(const Asked<T>& asked, long long place) const {
#pragma unroll
        for (int i = 0; i < V; ++i) {
            const double most = greatest[i] > asked.limit       ? infinity<double>()
                                : greatest[i] == -infinity<T>() ? -infinity<double>()
                                                                : static_cast<double>(greatest[i]);
            if (asks(GREATEST, asked.greatest)) asked.greatest[place + i] = fmax(asked.greatest[place + i], most);
            if (asks(REACHED, asked.reached)) asked.reached[place + i] += reached[i];
            if (asks(TOTAL, asked.total)) asked.total[place + i] += static_cast<double>(total[i]);
            if (asks(INVERSE, asked.inverse)) asked.inverse[place + i] += inverse[i];
        }
    }
    // The number within radius number r of source i.
    __device__ __forceinline__ int found_within(int r, int i, const int* within) const {
#pragma unroll
        for (int known = 0; known < HELD; ++known)
            if (r == known) return near[known][i];
        return within[(r - HELD) * 32 * V + i];
    }
};

// Sweep the levels at the top of the schedule, for all sources. To measure, the labels of leaves are not written; each
// warp of a group of blocks has a row of each measure, each block one of `within` for each radius.
template <typename T, int V, unsigned WHAT>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    sweep(const int* schedule, const int* steps, int levels, const int* where, const int* depth, const int* size,
          const int* begins, const int* upper, const T* down, const int* sources, const T* climbs, int height,
          T* labels, int pitch, unsigned* arrived, const int* times, T limit, const T* radii,
          int radii_count, double* greatest, double* reached, double* total, double* inverse, int* all_within) {
    const Asked<T> asked{times, limit, radii, radii_count, greatest, reached, total, inverse, all_within};
    __shared__ Row<T, V> shared[WARPS][32];
    __shared__ int within[WHAT & WITHIN ? RADII * 32 * V : 1];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int groups = pitch / (32 * V), group = blockIdx.x % groups;
    const int member = blockIdx.x / groups, members = (gridDim.x - group + groups - 1) / groups;
    const int first = group * 32 * V + lane * V;  // of this thread's sources
    const Sources<V> own(sources + first);
    const T* const climbed = climbs + static_cast<long long>(first) * height;
    Measured<T, V, WHAT, false> measured(asked);
    if constexpr (WHAT != 0) {
        for (int i = threadIdx.x; i < asked.count * 32 * V; i += THREADS) within[i] = 0;
        __syncthreads();
    }

    // The least sum of a label and an entry, of some entries; the lanes look up 32 of them at a time.
    const auto least = [&](int from, int to) {
        Row<T, V> row = Row<T, V>::unreached();
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

    const auto settle = [&](int p, int v, Row<T, V> row) {
        const int below = size[v];
        own.climbed(v, below, depth[v], climbed, height, row);
        if (WHAT == 0 || below > 1) row.write(labels + static_cast<long long>(p) * pitch + first);
        if constexpr (WHAT != 0) {
            const int often = asked.times[p];
            if (often) measured.take(row, often, asked, within + lane * V);
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

    if constexpr (WHAT != 0) {
        measured.add_to(asked, static_cast<long long>(member * WARPS + warp) * pitch + first);
        __syncthreads();
        for (int i = threadIdx.x; i < asked.count * 32 * V; i += THREADS) {
            const int r = i / (32 * V), source = group * 32 * V + i % (32 * V);
            asked.within[(static_cast<long long>(member) * asked.count + r) * pitch + source] += within[i];
        }
    }
}

// The lengths of a group of entries.
template <typename T> struct alignas(16) Lengths { T at[4]; };

// The 32 low bits of a number.
__device__ __forceinline__ int low_bits(int x) { return x; }
__device__ __forceinline__ int low_bits(float x) { return __float_as_int(x); }
__device__ __forceinline__ int low_bits(double x) { return __double2loint(x); }

// The groups of entries of a piece, which a warp reads in their order. They are copied to a ring of two chunks in
// shared memory, a chunk ahead, and their rows are read into registers a group ahead.
template <typename T> class Groups {
    static constexpr unsigned LENGTHS = sizeof(Lengths<T>) / 16, WORDS = CHUNK * (1 + LENGTHS);  // of 16 bytes
    int4* const rows;
    Lengths<T>* const lengths;
    const int4* later_rows;  // of the chunk that is copied next
    const Lengths<T>* later_lengths;
    unsigned at;  // the place in the ring of the group whose rows are read
    int4 next;    // its rows

    // Begin to copy a chunk to a place in the ring.
    __device__ __forceinline__ void fetch(unsigned to) {
#pragma unroll
        for (unsigned first = 0; first < WORDS; first += 32) {
            const unsigned i = first + threadIdx.x % 32;
            int4* const word = i < CHUNK ? rows + to + i : reinterpret_cast<int4*>(lengths + to) + (i - CHUNK);
            const int4* const from =
                i < CHUNK ? later_rows + i : reinterpret_cast<const int4*>(later_lengths) + (i - CHUNK);
            if (WORDS % 32 == 0 || i < WORDS) copy_async(word, from);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        later_rows += CHUNK;
        later_lengths += CHUNK;
    }
    __device__ __forceinline__ void read() {
        if (__builtin_expect(at % CHUNK == 0, 0)) {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
            __syncwarp();
            fetch(at ^ CHUNK);
        }
        next = rows[at];
    }

  public:
    static constexpr int BYTES = ROOM * (sizeof(int4) + sizeof(Lengths<T>));

    __device__ __forceinline__ explicit Groups(unsigned char* room)
        : rows(reinterpret_cast<int4*>(room)), lengths(reinterpret_cast<Lengths<T>*>(rows + ROOM)) {}

    // Begin to copy the groups of a piece.
    __device__ __forceinline__ void begin(const int4* first_rows, const Lengths<T>* first_lengths) {
        later_rows = first_rows;
        later_lengths = first_lengths;
        at = 0;
        end();
        __syncwarp();
        fetch(0);
    }
    // Wait for what was copied in vain.
    __device__ __forceinline__ void end() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
    // Wait for the first ones.
    __device__ __forceinline__ void wait() { read(); }

    __device__ __forceinline__ void take(int4& row, Lengths<T>& length) {
        row = next;
        length = lengths[at];
        at = (at + 1) % ROOM;
        read();
    }
};

// Sweep the pieces of a stage, for all sources; a block is a warp. The labels of the places before `kept` are written.
// spans[p] is vertex schedule[p] and size of its subtree. The blocks of a group of sources take one piece after the
// other, counted by turns[group], and have a row of each measure each. Below each vertex is a target, so that what is
// passed over beyond `bound` has one.
template <typename T, int V, unsigned WHAT>
__global__ void __launch_bounds__(32, 16)
    descend(const int4* pieces, int count, const int* outer, const int4* rows, const T* lengths, int* turns,
            int stacked, int kept, T bound, const int2* spans, const int* sources, const T* climbs, int height,
            T* labels, int pitch, const int* times, T limit, const T* radii,
            int radii_count, double* greatest, double* reached, double* total, double* inverse, int* all_within) {
    const Asked<T> asked{times, limit, radii, radii_count, greatest, reached, total, inverse, all_within};
    using Labels = Row<T, V>;
    using Measuring = Measured<T, V, WHAT, true>;
    extern __shared__ __align__(16) unsigned char room[];
    const int lane = threadIdx.x, all_groups = pitch / (32 * V);
    Groups<T> groups(room);
    // Row k of this thread's labels begins at stack[k * 32 * V].
    T* const stack = reinterpret_cast<T*>(room + Groups<T>::BYTES) + lane * V;
    int* const within = reinterpret_cast<int*>(stack - lane * V + stacked * 32 * V) + lane * V;

    for (int group = blockIdx.x % all_groups; group < all_groups; group += gridDim.x) {
        const int first = group * 32 * V + lane * V;
        const Sources<V> own(sources + first);
        const T* const climbed = climbs + static_cast<long long>(first) * height;
        Measuring measured(asked);
        if constexpr (WHAT != 0) {
            for (int r = FIRST; r < asked.count; ++r)
                for (int i = 0; i < V; ++i) within[(r - FIRST) * 32 * V + i] = 0;
        }
        const auto next_turn = [&] { return lane == 0 ? atomicAdd(turns + group, 1) : 0; };
        int turn = __shfl_sync(ALL, next_turn(), 0);
        while (turn < count) {
            const int later = next_turn();
            const int4 piece = pieces[turn], end = pieces[turn + 1];
            groups.begin(rows + piece.y, reinterpret_cast<const Lengths<T>*>(lengths) + piece.y);
            const int above = end.z - piece.z;
            for (int base = 0; base < above; base += 32) {
                const int place = base + lane < above ? outer[piece.z + base + lane] : 0;
                const int some = min(32, above - base);
#pragma unroll 8
                for (int i = 0; i < some; ++i) {
                    const long long at = static_cast<long long>(__shfl_sync(ALL, place, i)) * pitch;
                    Labels::read(labels + at + first).write(stack + (base + i) * 32 * V);
                }
            }
            if (above == 0) Labels::unreached().write(stack);  // a root has no entry to read it by
            int2 span = spans[piece.x];
            bool below = false;
#pragma unroll
            for (int i = 0; i < V; ++i) below |= own.lies_below(i, span.x, span.y);
            below = __any_sync(ALL, below);
            if (bound < infinity<T>() && !below) {
                bool near = false;
                for (int k = 0; k < above; ++k) near |= Labels::of_stack(stack + k * 32 * V).within(bound);
                if (!__any_sync(ALL, near)) {
                    for (int p = piece.x; p < min(end.x, kept); ++p)
                        Labels::unreached().write(labels + static_cast<long long>(p) * pitch + first);
                    if constexpr (WHAT != 0) measured.take_beyond();
                    turn = __shfl_sync(ALL, later, 0);
                    continue;
                }
            }

            groups.wait();
            Labels row = Labels::unreached();
            int often = 0;
            for (int p = piece.x; p < end.x; ++p) {
                int4 from;
                Lengths<T> by;
                groups.take(from, by);
                const Labels first_row = Labels::of_stack(stack + from.y * (32 * V));
                const Labels second_row = Labels::of_stack(stack + from.z * (32 * V));
                const Labels third_row = Labels::of_stack(stack + from.w * (32 * V));
                if constexpr (WHAT != 0) {  // the vertex before is measured while these are read
                    if (often) measured.take(row, often, asked, within);
                }
                const int head = from.x, own_row = head & 0xffff;
                often = low_bits(by.at[0]);
                row = Labels::through(first_row, by.at[1]);
                row.relax(second_row, by.at[2]);
                row.relax(third_row, by.at[3]);
#pragma unroll 1
                for (int more = head >> 16; more > 0; --more) {
                    groups.take(from, by);
                    row.relax(Labels::of_stack(stack + from.x * (32 * V)), by.at[0]);
                    row.relax(Labels::of_stack(stack + from.y * (32 * V)), by.at[1]);
                    row.relax(Labels::of_stack(stack + from.z * (32 * V)), by.at[2]);
                    row.relax(Labels::of_stack(stack + from.w * (32 * V)), by.at[3]);
                }
                if (below) {
                    own.climbed(span.x, span.y, piece.w + own_row - above, climbed, height, row);
                    span = spans[p + 1];
                }
                row.write(stack + own_row * (32 * V));
                if (p < kept) row.write(labels + static_cast<long long>(p) * pitch + first);
            }
            if constexpr (WHAT != 0) {
                if (often) measured.take(row, often, asked, within);
            }
            turn = __shfl_sync(ALL, later, 0);
        }
        if constexpr (WHAT != 0) {
            const long long member = blockIdx.x / all_groups;
            measured.add_to(asked, member * pitch + first);
            for (int r = 0; r < asked.count; ++r)
#pragma unroll
                for (int i = 0; i < V; ++i)
                    asked.within[(member * asked.count + r) * pitch + first + i] +=
                        measured.found_within(r, i, within);
        }
    }
    groups.end();
}

// D[rows[s], j] = the distance from source starts[s] to target j, or `unreached` if it is infinite or beyond the limit.
// It is rounded to the type of D, at last.
// The distance is the least sum of a label and a length: of the label at place[e] and added[e], for e from first[j] to
// first[j + 1]. It is at most 0 if leaf[j] is the source. The highest bit of place[e] marks the last sum of a target. A
// block takes a tile. Blocks that run together take a square of tiles, so that what they read and write lies together.
template <typename T, typename R>
__global__ void __launch_bounds__(THREADS, GATHERING)
    gather(const T* labels, int pitch, const int* first, const int* place, const T* added, const int* leaf,
           int columns, const int* starts, const int* rows, int sources, T limit, R unreached, R* D,
           long long leading) {
    constexpr int COLUMNS = TILE_BYTES / sizeof(T);
    __shared__ T tile[COLUMNS][TILE_SOURCES + 1];
    const int column = (blockIdx.y * SQUARE + blockIdx.x % SQUARE) * COLUMNS;
    const int source = (blockIdx.z * SQUARE + blockIdx.x / SQUARE) * TILE_SOURCES;
    if (column >= columns || source >= sources) return;
    // A thread has neighbouring columns and the sources whose labels are 16 bytes, in rows of `pitch`, which has room for
    // whole warps' sources.
    constexpr int V = 16 / sizeof(T), ACROSS = TILE_SOURCES / V, EACH = COLUMNS * ACROSS / THREADS;
    const int from = threadIdx.x % ACROSS * V;
    int k = threadIdx.x / ACROSS * EACH;  // the column of the tile whose sums are read
    if (source + from < pitch && column + k < columns) {
        const T* const own = labels + source + from;
        const int end = first[min(column + k + EACH, columns)];
        Row<T, V> row = Row<T, V>::unreached();
        for (int e = first[column + k]; e < end; e += AT_ONCE) {
            int at[AT_ONCE];
            T length[AT_ONCE];
            Row<T, V> label[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                at[i] = place[min(e + i, end - 1)];
                length[i] = added[min(e + i, end - 1)];
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i)
                label[i] = Row<T, V>::read(own + static_cast<long long>(at[i] & 0x7fffffff) * pitch);
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                row.relax(label[i], length[i]);
                if (at[i] < 0 && e + i < end) {
#pragma unroll
                    for (int s = 0; s < V; ++s) tile[k][from + s] = row.at[s];
                    row = Row<T, V>::unreached();
                    ++k;
                }
            }
        }
    }
    __syncthreads();
    const int x = threadIdx.x % COLUMNS;
    if (column + x >= columns) return;
    const int target = leaf[column + x];
#pragma unroll 8
    for (int s = threadIdx.x / COLUMNS; s < min(TILE_SOURCES, sources - source); s += THREADS / COLUMNS) {
        const T least = tile[x][s], found = starts[source + s] == target && T(0) < least ? T(0) : least;
        __stcs(D + rows[source + s] * leading + column + x, found <= limit ? static_cast<R>(found) : unreached);
    }
}
