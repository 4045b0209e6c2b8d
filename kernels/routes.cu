// Many pairs of a hierarchy: their ranks, climbs that are kept, where those of two vertices meet, sums along paths, and
// flows.
//
// Algorithm. `rank`: a thread a vertex checks that it is one, and reads its rank. `climb`: a warp a vertex goes up the
// elimination tree, and lowers the labels of each ancestor's upper neighbours, 32 entries at a time. `meet`: a warp a
// pair finds by bisection how many ancestors the two have in common, and takes the least sum of their labels; of equal
// ones the deepest. `meet_table`: a block takes the pairs of 64 rows and 64 columns, a thread 4 x 4 of these, from the
// roots down: two vertices have an ancestor in common where their climbs have the same vertex at the same depth, and
// below the last such depth no other. It ends once no pair has. `add_up`: a thread a way of an entry adds the sums of
// the two ways that it consists of, level by level from the deepest vertices. `carry`: a thread a climb adds up what its
// paths pass, from the vertex to the root. `push`: a thread a climb takes amounts from the root down to the vertex.
//
// Encoding. Vertices are ranks. The climb of vertex number i is from first[i] to first[i + 1], by depth: the ancestor,
// and the length of the shortest upward path to it; `entry`, which may be null, the last entry of that path, or -1.
// Infinity is that of infinity.cuh.
//
// Cost. A climb reads the entries of all ancestors once; each ancestor waits for the label of the one below, so some
// thousand warps are needed to hide the latency. A pair reads two rows of labels, of which neighbouring elements are
// read by neighbouring threads. A table reads each row of labels once for 64 pairs, and takes a comparison, a sum and a
// minimum for each pair and depth. `add_up` takes two reads of sums for each way, mostly from the L2, and a barrier for
// each level. `rank` reads a vertex and its rank, and writes the rank. The L2 holds the ranks of some million vertices.
//
// Races. All threads of `rank` that find no vertex write the same number to `wrong`. The entries of a vertex have
// different depths, so no two threads write the same label. A label is final when the warp comes to its ancestor, after
// a barrier of the warp. Climbs share no elements. `add_up` reads sums that other blocks wrote, after a barrier of the
// grid and past the L1. Threads of `push` add to the same loads by atomics: sums of whole numbers below 2^53 are exact
// in any order, others may differ in the last bits.
//
// Sources. J. Dibbelt, B. Strasser, D. Wagner, "Customizable contraction hierarchies", 2016; D. Ouyang, L. Qin,
// L. Chang, X. Lin, Y. Zhang, Q. Zhu, "When hierarchy meets 2-hop-labeling: efficient shortest distance queries on road
// networks", 2018.

#include "warp.cuh"
#include "grid.cuh"
#include "infinity.cuh"
#include "distances.cuh"

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int TILE = 64, EACH = 4, SIDE = TILE / EACH;  // of a table: rows or columns of a block, of a thread; threads
constexpr int DEPTHS = 16;                              // depths of climbs in shared memory at a time
static_assert(SIDE * SIDE == THREADS);

// wrong[0] becomes 1 if a number is no vertex; its rank is 0.
template <typename V>
__global__ void __launch_bounds__(THREADS)
    rank(const V* vertices, long long count, const int* rank_of, int n, int* ranks, int* wrong) {
    const long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= count) return;
    const V v = vertices[i];
    const bool is_vertex = v >= 0 && v < n;
    ranks[i] = is_vertex ? rank_of[v] : 0;
    if (!is_vertex) wrong[0] = 1;
}

template <typename T>
__global__ void __launch_bounds__(THREADS)
    climb(const int* vertices, int count, const int* parent, const int* depth, const int* begin, const int* depths,
          const T* lengths, const long long* first, int* vertex, T* label, int* entry) {
    const int i = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= count) return;
    vertex += first[i];
    label += first[i];
    if (entry != nullptr) entry += first[i];
    int v = vertices[i], d = depth[v];
    for (int k = lane; k <= d; k += 32) {
        label[k] = k < d ? infinity<T>() : T(0);
        if (entry != nullptr) entry[k] = -1;
    }
    __syncwarp();
    while (v >= 0) {
        const T own = label[d];
        if (lane == 0) vertex[d] = v;
        if (own < infinity<T>()) {
            const int end = begin[v + 1];
            for (int e = begin[v] + lane; e < end; e += 32) {
                const int above = depths[e];
                const T through = sum(own, lengths[e]);
                if (through < label[above]) {  // not if it is equal: the deepest ancestor is met first
                    label[above] = through;
                    if (entry != nullptr) entry[above] = e;
                }
            }
        }
        __syncwarp();
        v = parent[v];
        --d;
    }
}

// `turn` may be null. It is -1 where there is no path.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    meet(const int* sources, const int* targets, int count, const long long* there_first, const int* there_vertex,
         const T* there_label, const long long* back_first, const int* back_vertex, const T* back_label, T* D,
         int* turn) {
    const int i = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= count) return;
    const long long one = there_first[sources[i]], two = back_first[targets[i]];
    int common = 0;
    int high = static_cast<int>(min(there_first[sources[i] + 1] - one, back_first[targets[i] + 1] - two));
    while (common < high) {
        const int middle = common + (high - common) / 2;
        if (there_vertex[one + middle] == back_vertex[two + middle])
            common = middle + 1;
        else
            high = middle;
    }
    T best = infinity<T>();
    int deepest = -1;
    for (int d = lane; d < common; d += 32) {
        const T through = sum(there_label[one + d], back_label[two + d]);
        if (through < infinity<T>() && through <= best) {
            best = through;
            deepest = d;
        }
    }
    for (int apart = 16; apart > 0; apart /= 2) {
        const T other = __shfl_xor_sync(ALL, best, apart);
        const int where = __shfl_xor_sync(ALL, deepest, apart);
        if (other < best || (other == best && where > deepest)) {
            best = other;
            deepest = where;
        }
    }
    if (lane != 0) return;
    D[i] = best;
    if (turn != nullptr) turn[i] = deepest;
}

// Some depths of the climbs of a tile's rows, or of its columns.
template <typename T> struct Strip {
    int vertex[DEPTHS][TILE + 1];
    T label[DEPTHS][TILE + 1];

    // `none` is the vertex where a climb has ended, or there is none.
    __device__ __forceinline__ void load(const int* numbers, int count, const long long* first, const int* vertices,
                                         const T* labels, int base, int none) {
        for (int k = threadIdx.x; k < TILE * DEPTHS; k += THREADS) {
            const int own = k / DEPTHS, d = k % DEPTHS, number = own < count ? numbers[own] : -1;
            const long long place = number < 0 ? 0 : first[number] + base + d;
            const bool there = number >= 0 && place < first[number + 1];
            vertex[d][own] = there ? vertices[place] : none;
            label[d][own] = there ? labels[place] : infinity<T>();
        }
    }
};

// D[i * width + j] and turn[i * width + j] = what `meet` writes of rows[i] and columns[j].
template <typename T>
__global__ void __launch_bounds__(THREADS)
    meet_table(const int* rows, int height, const int* columns, int width, const long long* there_first,
               const int* there_vertex, const T* there_label, const long long* back_first, const int* back_vertex,
               const T* back_label, T* D, int* turn) {
    __shared__ Strip<T> above, below;
    const int left = blockIdx.x * TILE, top = blockIdx.y * TILE, x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    T best[EACH][EACH];
    int deepest[EACH][EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j) best[i][j] = infinity<T>(), deepest[i][j] = -1;
    for (int base = 0, together = 1; together; base += DEPTHS) {
        above.load(rows + top, height - top, there_first, there_vertex, there_label, base, -1);
        below.load(columns + left, width - left, back_first, back_vertex, back_label, base, -2);
        __syncthreads();
        bool met = false;
        for (int d = 0; d < DEPTHS; ++d) {
            met = false;
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const int own = above.vertex[d][y + SIDE * i];
                const T up = above.label[d][y + SIDE * i];
#pragma unroll
                for (int j = 0; j < EACH; ++j) {
                    if (own != below.vertex[d][x + SIDE * j]) continue;
                    met = true;
                    const T through = sum(up, below.label[d][x + SIDE * j]);
                    if (through > best[i][j] || !(through < infinity<T>())) continue;
                    best[i][j] = through;
                    deepest[i][j] = base + d;
                }
            }
        }
        together = __syncthreads_or(met);
    }
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const int row = top + y + SIDE * i, column = left + x + SIDE * j;
            if (row >= height || column >= width) continue;
            const long long place = static_cast<long long>(row) * width + column;
            D[place] = best[i][j];
            turn[place] = deepest[i][j];
        }
}

// sums[way] = the sum of `values` along a way: of the edge ways[2 * way], if ways[2 * way + 1] is -1, or of these two ways,
// whose entries are of deeper vertices. levels[step] is the first of `entries` whose vertex has the depth of that step.
template <typename S, typename W>
__global__ void __launch_bounds__(THREADS) add_up(const int* entries, const int* levels, int steps, const W* ways,
                                                  const S* values, S* sums, unsigned* arrived) {
    const long long threads = static_cast<long long>(gridDim.x) * THREADS;
    for (int step = 0; step < steps; ++step) {
        const long long begin = 2LL * levels[step], end = 2LL * levels[step + 1];
        for (long long k = begin + blockIdx.x * THREADS + threadIdx.x; k < end; k += threads) {
            const long long way = 2LL * entries[k / 2] + k % 2;
            const W first = ways[2 * way], second = ways[2 * way + 1];
            if (second >= 0)
                sums[way] = __ldcg(sums + first) + __ldcg(sums + second);
            else
                sums[way] = first >= 0 ? values[first] : S(0);
        }
        grid_barrier(arrived);
    }
}

// depths[e] is the depth of the lower end of entry e, sums[2 * e + down] the sum along it.
template <typename S>
__global__ void __launch_bounds__(32) carry(const int* depths, int count, const long long* first, const int* entry,
                                            int down, const S* sums, S* carried) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= count) return;
    const long long begin = first[i];
    for (long long place = first[i + 1] - 1; place >= begin; --place) {
        const int e = entry[place];
        carried[place] = e < 0 ? S(0) : carried[begin + depths[e]] + sums[2LL * e + down];
    }
}

// `none` is the total where there is no path.
template <typename S>
__global__ void __launch_bounds__(THREADS)
    join(const int* sources, const int* targets, const int* turn, int count, const long long* there_first,
         const long long* back_first, const S* there, const S* back, S none, S* totals) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const int d = turn[i];
    totals[i] = d < 0 ? none : there[there_first[sources[i]] + d] + back[back_first[targets[i]] + d];
}

__global__ void __launch_bounds__(32) push(const int* depths, int count, const long long* first, const int* entry,
                                           int down, double* amounts, double* load) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= count) return;
    const long long begin = first[i], last = first[i + 1] - 1;
    for (long long place = begin; place < last; ++place) {  // an entry leads from a deeper ancestor, which comes later
        const double amount = amounts[place];
        const int e = entry[place];
        if (amount == 0 || e < 0) continue;
        atomicAdd(load + 2LL * e + down, amount);
        amounts[begin + depths[e]] += amount;
    }
}
