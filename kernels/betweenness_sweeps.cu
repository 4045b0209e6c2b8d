// Betweenness down a hierarchy: numbers of shortest paths by elimination, and dependencies by its adjoint.
//
// Algorithm. That of mgraph/kernels/betweenness_sweeps/host.py, from many sources at once. A shortest path climbs over
// entries upwards and then falls over entries downwards. `climb` finds the distances and numbers of paths upwards from
// each source. Then `sweep` goes through the levels of the elimination tree three times, with a barrier after each:
//
//   down   distances and numbers of paths, each vertex from its upper neighbours and the climbs that end there
//   up     adjoints of the numbers, each vertex from its lower neighbours (Baur and Strassen 1983, Brandes 2001)
//   down   adjoints of the climbs, each ancestor of a source from its upper neighbours
//
// An entry that joins two distances is tight. Each sweep also adds up what the tight entries carry.
//
// Encoding. Vertices are ranks, a postorder of the tree, so that a subtree is a range. Sources ascend; behind the last
// one the lanes hold n, which is in no subtree. A row has `pitch` lanes, a multiple of LANES: rows of vertices, and of
// depths for the climbs, as a lane has one ancestor of each depth. `order` has the vertices by depth, `levels` where
// each depth begins. Sums are by group of LANES lanes, [group][vertex] and [group][entry].
//
// Cost. Each entry reads a distance for each lane, twice down and once up, and further values only if it is tight. A
// warp takes a vertex for LANES lanes; where a level is narrow, a block does, and its warps share the entries.
//
// Races. One warp or block writes a vertex's rows for a group, after the barrier that follows the rows it reads, and
// adds to the sums of that vertex or of its entries. All sums are gathered, each in the same order, so that results do
// not differ from run to run. Every loop ends: levels, entries and ancestors are finite.
//
// Sources. U. Brandes, "A faster algorithm for betweenness centrality", 2001. W. Baur, V. Strassen, "The complexity of
// partial derivatives", 1983. D. Delling, A. V. Goldberg, A. Nowatzyk, R. F. Werneck, "PHAST", 2011. J. Dibbelt,
// B. Strasser, D. Wagner, "Customizable contraction hierarchies", 2016.

#include "grid.cuh"
#include "infinity.cuh"
#include "warp.cuh"

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int WIDTH = 4;             // lanes of a thread
constexpr int LANES = 32 * WIDTH;    // of a group
constexpr int NARROW = 4;            // units of a block below which its warps share them
constexpr double LARGE = 0x1p1000;

using Index = unsigned long long;

struct Tree {
    const int *depth, *size, *order, *levels;
    int n, height;
};

// The entries of each vertex, and the same by upper vertex.
struct Entries {
    const int *begin, *upper, *depth, *lower_begin, *lower, *lower_entry;
    const int *up, *down;
    const double *paths_up, *paths_down;
    unsigned count;
};

struct Rows {
    int* distance;
    double* paths;
    double* adjoint;
};

struct Sums {
    double *vertices, *up, *down;
};

// A vertex, and the lanes of a thread.
struct Unit {
    int v, lowest, depth, group;
    Index lane;     // the first one
    int source[WIDTH];

    __device__ Unit(const Tree& tree, const int* sources, int v, int group)
        : v(v), lowest(v - tree.size[v]), depth(tree.depth[v]), group(group),
          lane(static_cast<Index>(group) * LANES + threadIdx.x % 32 * WIDTH) {
        const int4 own = *reinterpret_cast<const int4*>(sources + lane);
        source[0] = own.x, source[1] = own.y, source[2] = own.z, source[3] = own.w;
    }
    // Whether the source of a lane is in the vertex's subtree.
    __device__ __forceinline__ bool is_below(int i) const { return lowest < source[i] && source[i] <= v; }
};

struct Distances {
    int at[WIDTH];
    __device__ __forceinline__ Distances() {}
    __device__ __forceinline__ explicit Distances(const int* from) {
        const int4 all = *reinterpret_cast<const int4*>(from);
        at[0] = all.x, at[1] = all.y, at[2] = all.z, at[3] = all.w;
    }
    __device__ __forceinline__ void write(int* to) const {
        *reinterpret_cast<int4*>(to) = make_int4(at[0], at[1], at[2], at[3]);
    }
};

struct Numbers {
    double at[WIDTH] = {};
    __device__ __forceinline__ Numbers() {}
    __device__ __forceinline__ explicit Numbers(const double* from) {
        const double2 low = reinterpret_cast<const double2*>(from)[0], high = reinterpret_cast<const double2*>(from)[1];
        at[0] = low.x, at[1] = low.y, at[2] = high.x, at[3] = high.y;
    }
    __device__ __forceinline__ void write(double* to) const {
        reinterpret_cast<double2*>(to)[0] = make_double2(at[0], at[1]);
        reinterpret_cast<double2*>(to)[1] = make_double2(at[2], at[3]);
    }
};

// The lengths and numbers of the upward paths from each source to its ancestors; a warp has a source.
__global__ void __launch_bounds__(THREADS) climb(const int* __restrict__ parent, const int* __restrict__ depths,
                                                 const int* __restrict__ begin, const int* __restrict__ depth_above,
                                                 const int* __restrict__ up, const double* __restrict__ paths_up,
                                                 const int* __restrict__ sources, int lanes, Index pitch,
                                                 int* distances, double* counts, double* adjoints) {
    const Rows climbs{distances, counts, adjoints};
    const int own = blockIdx.x * WARPS + threadIdx.x / 32, part = threadIdx.x % 32;
    if (own >= lanes) return;
    const int source = sources[own];
    int depth = depths[source];
    for (int d = part; d <= depth; d += 32) {
        const Index at = d * pitch + own;
        climbs.distance[at] = d == depth ? 0 : infinity<int>();
        climbs.paths[at] = d == depth ? 1.0 : 0.0;
        climbs.adjoint[at] = 0.0;
    }
    __syncwarp();
    for (int v = source; v >= 0; v = parent[v], depth--) {
        const Index here = depth * pitch + own;
        const int from = climbs.distance[here];
        const double paths = climbs.paths[here];
        if (from < infinity<int>()) {
            for (int e = begin[v] + part, end = begin[v + 1]; e < end; e += 32) {
                const Index above = depth_above[e] * pitch + own;
                const int there = from + up[e], known = climbs.distance[above];
                if (there > known || there >= infinity<int>()) continue;
                const double more = paths * paths_up[e];
                climbs.distance[above] = there;
                climbs.paths[above] = there < known ? more : climbs.paths[above] + more;
            }
        }
        __syncwarp();
    }
}

// A sum over the warps of a team, in their order, in all of them.
template <int TEAM> __device__ __forceinline__ void add_up(Numbers& own) {
    if constexpr (TEAM > 1) {
        __shared__ Numbers parts[TEAM][32];
        const int warp = threadIdx.x / 32, part = threadIdx.x % 32;
        __syncthreads();
        parts[warp][part] = own;
        __syncthreads();
        own = parts[0][part];
        for (int other = 1; other < TEAM; other++)
            for (int i = 0; i < WIDTH; i++) own.at[i] += parts[other][part].at[i];
    }
}

// The least over the warps of a team, in all of them.
template <int TEAM> __device__ __forceinline__ void take_least(Distances& own) {
    if constexpr (TEAM > 1) {
        __shared__ int4 parts[TEAM][32];
        const int warp = threadIdx.x / 32, part = threadIdx.x % 32;
        __syncthreads();
        parts[warp][part] = make_int4(own.at[0], own.at[1], own.at[2], own.at[3]);
        __syncthreads();
        for (int other = 0; other < TEAM; other++) {
            const Distances found(reinterpret_cast<const int*>(&parts[other][part]));
            for (int i = 0; i < WIDTH; i++) own.at[i] = min(own.at[i], found.at[i]);
        }
    }
}

// What all three sweeps read.
struct Sweep {
    Tree tree;
    Entries entries;
    const int* sources;
    const bool* targets;
    int groups;
    Index pitch;
    int limit;
    bool endpoints;
    Rows rows, climbs;
    Sums sums;
    int* too_many;

    template <int TEAM> __device__ __forceinline__ int first_of_team() const { return TEAM > 1 ? threadIdx.x / 32 : 0; }
    template <int TEAM> __device__ __forceinline__ bool leads() const { return TEAM == 1 || threadIdx.x < 32; }
    __device__ __forceinline__ void add(double* to, double own) const {
        const double total = sum_of_lanes(own);
        if (threadIdx.x % 32 == 0) *to += total;
    }
    __device__ __forceinline__ double* carried(double* sums, int e, int group) const {
        return sums + static_cast<Index>(group) * entries.count + e;
    }

    // The distances and numbers of paths of a vertex.
    template <int TEAM> __device__ void fall(const Unit& u) const {
        const Index above = u.depth * pitch + u.lane, here = u.v * pitch + u.lane;
        const int first = entries.begin[u.v] + first_of_team<TEAM>(), end = entries.begin[u.v + 1];
        Distances climbed;
        for (int i = 0; i < WIDTH; i++) climbed.at[i] = u.is_below(i) ? climbs.distance[above + i] : infinity<int>();
        Distances least = climbed;
#pragma unroll 4
        for (int e = first; e < end; e += TEAM) {
            const int length = entries.down[e];
            const Distances from(rows.distance + entries.upper[e] * pitch + u.lane);
            for (int i = 0; i < WIDTH; i++) least.at[i] = min(least.at[i], from.at[i] + length);
        }
        take_least<TEAM>(least);
        Numbers paths;
#pragma unroll 2
        for (int e = first; e < end; e += TEAM) {
            const Index from = entries.upper[e] * pitch + u.lane;
            const Distances there(rows.distance + from);
            const int length = entries.down[e];
            const double count = entries.paths_down[e];
            for (int i = 0; i < WIDTH; i++)
                if (there.at[i] + length == least.at[i]) paths.at[i] += count * rows.paths[from + i];
        }
        add_up<TEAM>(paths);
        if (!leads<TEAM>()) return;
        bool large = false;
        for (int i = 0; i < WIDTH; i++) {
            if (u.is_below(i) && climbed.at[i] == least.at[i]) paths.at[i] += climbs.paths[above + i];
            large |= paths.at[i] > LARGE;
        }
        least.write(rows.distance + here);
        paths.write(rows.paths + here);
        if (large) *too_many = 1;
    }

    // The adjoints of a vertex, and what passes it.
    template <int TEAM> __device__ void rise(const Unit& u) const {
        const Index here = u.v * pitch + u.lane;
        const int first = entries.lower_begin[u.v] + first_of_team<TEAM>(), end = entries.lower_begin[u.v + 1];
        const Distances own(rows.distance + here);
        const Numbers paths(rows.paths + here);
        Numbers adjoint;
#pragma unroll 2
        for (int k = first; k < end; k += TEAM) {
            const int e = entries.lower_entry[k], length = entries.down[e];
            const Index to = entries.lower[k] * pitch + u.lane;
            const Distances there(rows.distance + to);
            bool tight[WIDTH], any = false;
            for (int i = 0; i < WIDTH; i++) any |= tight[i] = own.at[i] + length == there.at[i];
            if (!__any_sync(ALL, any)) continue;
            const double count = entries.paths_down[e];
            double total = 0;
            for (int i = 0; i < WIDTH; i++) {
                if (!tight[i]) continue;
                const double share = count * rows.adjoint[to + i];
                adjoint.at[i] += share;
                total += share * paths.at[i];
            }
            add(carried(sums.down, e, u.group), total);
        }
        add_up<TEAM>(adjoint);
        if (!leads<TEAM>()) return;
        const int most = targets[u.v] ? limit : -1;
        double passing = 0;
        for (int i = 0; i < WIDTH; i++) {
            const bool is_source = u.source[i] == u.v;  // which nothing passes, and where no path ends
            const bool ends = !is_source && own.at[i] <= most && paths.at[i] > 0;
            if (!is_source) passing += adjoint.at[i] * paths.at[i];
            if (ends && endpoints) passing += 1;
            if (ends) adjoint.at[i] += 1 / paths.at[i];
            const Index above = u.depth * pitch + u.lane + i;
            if (u.is_below(i) && climbs.distance[above] == own.at[i]) climbs.adjoint[above] = adjoint.at[i];
        }
        adjoint.write(rows.adjoint + here);
        add(sums.vertices + static_cast<Index>(u.group) * tree.n + u.v, passing);
    }

    // The adjoints of the climbs to a vertex, if it is an ancestor of sources.
    template <int TEAM> __device__ void descend(const Unit& u) const {
        bool reached[WIDTH], any = false;
        const Index above = u.depth * pitch + u.lane;
        Distances own;
        for (int i = 0; i < WIDTH; i++) {
            own.at[i] = u.is_below(i) ? climbs.distance[above + i] : infinity<int>();
            any |= reached[i] = own.at[i] < infinity<int>();
        }
        if (!__any_sync(ALL, any)) return;  // alike in all warps of a team
        Numbers behind;
        for (int e = entries.begin[u.v] + first_of_team<TEAM>(), end = entries.begin[u.v + 1]; e < end; e += TEAM) {
            const Index to = entries.depth[e] * pitch + u.lane;
            const int length = entries.up[e];
            const double count = entries.paths_up[e];
            double total = 0;
            bool some = false;
            for (int i = 0; i < WIDTH; i++) {
                if (!reached[i] || own.at[i] + length != climbs.distance[to + i]) continue;
                const double share = count * climbs.adjoint[to + i];
                behind.at[i] += share;
                total += share * climbs.paths[above + i];
                some = true;
            }
            if (__any_sync(ALL, some)) add(carried(sums.up, e, u.group), total);
        }
        add_up<TEAM>(behind);
        if (!leads<TEAM>()) return;
        double passing = 0;
        for (int i = 0; i < WIDTH; i++) {
            if (!reached[i]) continue;
            const double all = climbs.adjoint[above + i] + behind.at[i];
            climbs.adjoint[above + i] = all;
            if (u.source[i] != u.v)
                passing += behind.at[i] * climbs.paths[above + i];
            else if (endpoints)
                passing += rint(all);  // the number of targets within reach
        }
        add(sums.vertices + static_cast<Index>(u.group) * tree.n + u.v, passing);
    }

    // Take the vertices of a level for all lanes: a block for each where they are few, otherwise a warp.
    template <typename Take, typename TakeTogether>
    __device__ void level(int depth, Take take, TakeTogether take_together) const {
        const int first = tree.levels[depth];
        const Index units = static_cast<Index>(tree.levels[depth + 1] - first) * groups;
        const bool narrow = units < static_cast<Index>(NARROW) * gridDim.x;
        const Index own = narrow ? blockIdx.x : static_cast<Index>(blockIdx.x) * WARPS + threadIdx.x / 32;
        const Index step = narrow ? gridDim.x : static_cast<Index>(gridDim.x) * WARPS;
        for (Index i = own; i < units; i += step) {
            const Unit unit(tree, sources, tree.order[first + i / groups], i % groups);
            if (narrow)
                take_together(unit);
            else
                take(unit);
        }
    }
};

// The three sweeps, by all blocks together.
__global__ void __launch_bounds__(THREADS, 3)
    sweep(int n, int height, const int* depths, const int* sizes, const int* order, const int* levels, const int* begin,
          const int* upper, const int* depth_above, const int* lower_begin, const int* lower, const int* lower_entry,
          unsigned count, const int* up, const int* down, const double* paths_up, const double* paths_down,
          const int* sources, const bool* targets, int groups, int limit, bool endpoints, int* distances,
          double* paths, double* adjoints, int* climbed, double* climbs, double* returns, double* vertices,
          double* carried_up, double* carried_down, int* too_many, unsigned* arrived) {
    const Sweep s{{depths, sizes, order, levels, n, height},
                  {begin, upper, depth_above, lower_begin, lower, lower_entry, up, down, paths_up, paths_down, count},
                  sources,
                  targets,
                  groups,
                  static_cast<Index>(groups) * LANES,
                  limit,
                  endpoints,
                  {distances, paths, adjoints},
                  {climbed, climbs, returns},
                  {vertices, carried_up, carried_down},
                  too_many};
    for (int depth = 0; depth < height; depth++) {
        s.level(depth, [&](const Unit& u) { s.fall<1>(u); }, [&](const Unit& u) { s.fall<WARPS>(u); });
        grid_barrier(arrived);
    }
    for (int depth = height - 1; depth >= 0; depth--) {
        s.level(depth, [&](const Unit& u) { s.rise<1>(u); }, [&](const Unit& u) { s.rise<WARPS>(u); });
        grid_barrier(arrived);
    }
    for (int depth = 0; depth < height; depth++) {
        s.level(depth, [&](const Unit& u) { s.descend<1>(u); }, [&](const Unit& u) { s.descend<WARPS>(u); });
        grid_barrier(arrived);
    }
}
