// Shortest paths from one source, or from a set of vertices at distance zero.
//
// Algorithms. `piles` relaxes the edges out of a worklist, the near pile: vertices whose distance fell below `bound`.
// Vertices that fell to `bound` or more wait in the far pile until the near pile is empty. Then the bound is raised by
// `window`, and vertices below the new bound become near (Davidson et al. 2014, after the buckets of Meyer and Sanders
// 2003). If two windows in succession gave the device little to do in few rounds, the next window is doubled; it
// shrinks again by halves. One such window is not enough, because the work of a search grows by multiples. With an
// infinite window this is the algorithm of Bellman and Ford over the vertices that changed, and weights may be
// negative.
//
// `masks` is the algorithm of Harish and Narayanan (2007). A mask holds the vertices whose cost fell. The first pass
// relaxes their edges into an array of updating costs. The second pass takes over the costs that fell and makes the
// next mask. Here a bound may hold back a part of the mask. It works on a range of the targets, so several shards can
// share a search. Between rounds they exchange the vertices that fell, as lists or as the distances of all vertices.
//
// Or shards run `piles`, each over the edges into its own vertices, and exchange distances after many rounds: `join`
// takes over what the others found. GPUs of a host exchange in the launch itself (peers.cuh). After each round a GPU
// sends the others the vertices that it has put on its near pile, and their distances; they go on the near piles of all.
// All raise the bound at the same time, from the same figures. The far pile of each is of its own vertices.
//
// All rounds run in one cooperative launch, with a grid-wide barrier a phase. A near pile that one block can handle
// stays in its shared memory, also while the bound is raised: a round then costs a few memory latencies. The host
// reads nothing between rounds.
//
// Encoding. Edges by source, row u, only those into the vertices [lo, hi) of a shard. Infinity is inf, for int 2^30 -
// 1; a weight of at most 2^28 adds to it without wrapping. A sum below -2^30 is replaced by -2^30. `distance` has all
// n vertices. stamps[v] is the last round whose near pile has v, and a bit of `waits` is set while v is in the far
// pile: so no pile has a vertex twice. `bound` and the sizes of the piles outlive a launch.
//
// A `limit` prunes: paths beyond it are not followed. A `target` is a limit that falls with the target's distance: a
// vertex farther than the target is not on a shortest path to it. At the end, distances up to the limit are exact;
// greater ones need not be.
//
// Races. Distances fall by atomic minima. Threads look before they lower, and a stale look only costs the atomic. The
// old value of a stamp, or of a bit of `waits`, decides which thread appends a vertex.
//
// Cost. n + m operations, repeated each time that a vertex falls within its window. Random reads of distances (from
// the L2 where they fit) bound it; in long graphs the latency of a round. Most relaxations lower nothing, so they read
// before they write.
//
// Predecessors are found from the finished distances d (sssp_predecessors.cuh): the least u nearer than v whose edge
// is tight, d[u] + weight = d[v]. Vertices without such an edge, behind edges of weight zero, lost in rounding or
// negative, are left to a second search, which counts the hops along tight edges. `tight` makes its weights: 1 for
// these edges, infinity for others.

#include "warp.cuh"
#include "bitmap.cuh"
#include "distances.cuh"
#include "grid.cuh"
#include "infinity.cuh"
#include "peers.cuh"
#include "sssp_phases.cuh"
#include "sssp_relax.cuh"
#include "sssp_predecessors.cuh"

constexpr int EACH = 2;                 // vertices of a thin pile to a thread
constexpr int THIN = EACH * THREADS;    // vertices of a pile that one block handles,
constexpr int THIN_EDGES = 8192;        // the edges out of them,
constexpr int THIN_FAR = 16384;         // and the vertices that it looks through when it raises the bound
constexpr int SERIAL = 16;              // edges that a thread relaxes alone before its warp helps
constexpr int LONGS = THIN_EDGES / SERIAL;

// How far the exchange of a round has come: the others' vertices are on the near pile, the own ones were sent only, or
// nothing was. RAISING is added where the bound is being raised.
enum Exchange { MERGED = 0, SENT = 1, UNSENT = 2, RAISING = 4 };

// How long a path may be: `limit`, or the distance of the target if that is less.
template <typename T> __device__ __forceinline__ T cutoff(const T* distance, T limit, int target) {
    if (target < 0) return limit;
    const T reached = __ldcg(distance + target);
    return reached < limit ? reached : limit;
}

// Vertices that a warp found, gathered in shared memory and appended to a pile 32 at a time. All lanes call together.
struct Appender {
    int* staged;  // 64 of the warp
    int* target;  // where this phase appends
    int* count;
    int held = 0;

    template <typename Flushed> __device__ __forceinline__ void add(bool won, int v, Flushed flushed) {
        const int lane = threadIdx.x % 32;
        const unsigned winners = __ballot_sync(ALL, won);
        if (!winners) return;
        if (won) staged[held + __popc(winners & ((1u << lane) - 1))] = v;
        held += __popc(winners);
        __syncwarp();
        if (held >= 32) {
            flush(32, flushed);
            if (lane < held) staged[lane] = staged[32 + lane];
            __syncwarp();
        }
    }
    template <typename Flushed> __device__ __forceinline__ void flush(int size, Flushed flushed) {
        const int lane = threadIdx.x % 32;
        int at = 0;
        if (lane == 0 && size) at = atomicAdd(count, size);
        at = __shfl_sync(ALL, at, 0);
        if (lane < size) {
            const int v = staged[lane];
            target[at + lane] = v;
            flushed(v);
        }
        held -= size;
        __syncwarp();
    }
};

// The two piles of a phase. All lanes of a warp call together.
template <typename T, typename Offset> struct Piles {
    const Offset* indptr;
    Appender near, far;
    unsigned long long edges = 0;

    __device__ __forceinline__ void add(bool is_near, bool is_far, int v) {
        if (!__any_sync(ALL, is_near || is_far)) return;
        near.add(is_near, v, [&](int u) { edges += indptr[u + 1] - indptr[u]; });
        far.add(is_far, v, [](int) {});
    }
    __device__ __forceinline__ void finish(Phase<T>* record) {
        near.flush(near.held, [&](int u) { edges += indptr[u + 1] - indptr[u]; });
        far.flush(far.held, [](int) {});
        for (int step = 16; step; step /= 2) edges += __shfl_down_sync(ALL, edges, step);
        if (threadIdx.x % 32 == 0 && edges) atomicAdd(&record->edges, edges);
    }
};

// Lowers distances, and appends the vertices whose distance fell to the piles.
template <typename T, typename Offset> struct Pushing {
    T* distance;
    int* stamps;
    unsigned* waits;
    T bound, most;  // where the far pile begins, and where paths end
    int next;       // the round that the near pile is for
    Piles<T, Offset> piles;

    __device__ __forceinline__ bool promises(const From<T>&, Offset, int v, T x) const {
        return x <= most && x < __ldcg(distance + v);
    }
    // Lower v's distance. Every thread that saw it greater in this round tries to append v, so no thread waits for the
    // old distance; the old stamp, or the old bit of `waits`, decides which one does.
    __device__ __forceinline__ int enter(const From<T>&, int v, T x) const {
        lower(distance + v, x);
        return x < bound ? atomicExch(stamps + v, next) : static_cast<int>(set_bit(waits, v));
    }
    __device__ __forceinline__ bool joins_near(T x, int was) const { return x < bound && was != next; }
    __device__ __forceinline__ bool joins_far(int v, T x, int was) const {
        return !(x < bound) && !(was >> (v % 32) & 1);
    }
    __device__ __forceinline__ void take(bool entered, int v, T x, int was) {
        piles.add(entered && joins_near(x, was), entered && joins_far(v, x, was), v);
    }
};

// Where a vertex of the far pile goes when the bound is raised from `bound` to `next`. A vertex whose distance is less
// than `bound` has been near meanwhile.
template <typename T> struct Sorted {
    bool near, far;
    __device__ __forceinline__ Sorted(T d, T bound, T next, T most)
        : near(d >= bound && d < next && d <= most), far(d >= next && d <= most) {}
};

// Run up to `rounds` rounds. A cooperative launch: all blocks are resident. near_piles and far_piles have two halves
// of n: the near pile of round r is in half r % 2. With `Several`, shard s is a GPU with the vertices [ranges[s],
// ranges[s + 1]), and `table` is where the GPUs' spaces are.
template <typename T, typename Offset, bool Several>
__global__ void __launch_bounds__(THREADS, 1)
    piles(const Offset* __restrict__ indptr, const int* __restrict__ indices, const T* __restrict__ weights, int n,
          T* distance, int* near_piles, int* far_piles, int* stamps, unsigned* waits, Piece* pieces, T* bounds,
          Control<T>* control, T window, T limit, int target, int rounds, const Peers* table,
          const int* __restrict__ ranges) {
    __shared__ int staged[2][WARPS][64];
    __shared__ int thin[2][THIN];
    __shared__ From<T> longs[LONGS];
    __shared__ int thin_count[3], thin_edges[3], thin_longs[3], thin_hubs[3], far_count, far_left;
    __shared__ T thin_least;
    __shared__ Pace<T> pace;  // thread 0 writes it

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int global_warp = blockIdx.x * WARPS + warp, global_warps = gridDim.x * WARPS;
    const Graph<T, Offset> graph{indptr, indices, weights};

    int round = control->round, near = control->near, far = control->far, side = control->side;
    const int last = rounds < 0x7fffffff - round ? round + rounds : 0x7fffffff;
    unsigned edges = 0;  // out of the near pile, or less; how many more than a block handles does not matter
    auto up_to = [](unsigned long long count) { return count < 1u << 30 ? static_cast<unsigned>(count) : 1u << 30; };
    T bound = bounds[0];
    if (threadIdx.x == 0) pace = {bound, window, round, 0, false};
    // The exchange among several GPUs. A mail is what a GPU has put on its near pile, the size of its far pile, the edges
    // that it has followed in this window, and the least distance in its far pile after the bound was raised.
    constexpr int WORDS = 3 + sizeof(T) / 4, OF_ENTRY = 1 + sizeof(T) / 4;
    __shared__ Peers peers;
    __shared__ unsigned mails[MOST_PEERS][WORDS];
    unsigned number = 0;  // of the last exchange
    int done = MERGED, elsewhere = 0;
    bool first_wait = true, lost = false;
    if constexpr (Several) {
        number = open_peers(table, peers);
        elsewhere = control->elsewhere;
    }

    Phases<T> phases(control);  // a barrier behind what was read of the control words

    auto pile = [&](int number) { return near_piles + (number % 2 ? n : 0); };
    auto later = [&](int half) { return far_piles + (half ? n : 0); };
    auto pushing = [&](int found) {  // behind `found` vertices of the next near pile
        return Pushing<T, Offset>{
            distance, stamps, waits, bound, cutoff(distance, limit, target), round + 1,
            {indptr, {staged[0][warp], pile(round + 1) + found, &phases.record()->near},
             {staged[1][warp], later(side) + far, &phases.record()->far}}};
    };

    // What a GPU sends another is a list with numbers, or if it is long one without: vertices, and their distances.
    static_assert(THIN * OF_ENTRY <= PEERS_LIST);
    auto room_of = [&](int from) { return (ranges[from + 1] - ranges[from] + 31) / 32 * 32; };
    auto data_of = [&](int of, int from) {
        unsigned* const first = peers.data(of, number, static_cast<size_t>((n + 31) / 32 * 32) * OF_ENTRY);
        return reinterpret_cast<int*>(first + static_cast<size_t>(ranges[from]) * OF_ENTRY);
    };
    auto numbered = [&](int count) { return count <= THIN; };
    auto send_entry = [&](int place, int v) {
        const T d = __ldcg(distance + v);
        unsigned words[OF_ENTRY];
        words[0] = v;
        memcpy(words + 1, &d, sizeof(T));
        for (int gpu = 0; gpu < peers.size; ++gpu) {
            if (gpu == peers.rank) continue;
            auto* const to = peers.list(gpu, peers.rank, number) + place * OF_ENTRY;
#pragma unroll
            for (int i = 0; i < OF_ENTRY; ++i) put_numbered(to + i, number, words[i]);
        }
    };
    auto write_own_mail = [&](unsigned found, int own_far, T least) {
        if (threadIdx.x == 0) {
            mails[peers.rank][0] = found, mails[peers.rank][1] = own_far, mails[peers.rank][2] = pace.edges;
            memcpy(mails[peers.rank] + 3, &least, sizeof(T));
        }
        __syncthreads();
    };
    // Wait for the others' mails, by all threads of a block; return whether they came.
    auto wait = [&]() {
        const bool came = get_mails(peers, number, first_wait, mails);
        first_wait = false;
        return came;
    };
    auto near_anywhere = [&](unsigned& unnumbered) {
        int all = 0;
        unnumbered = elsewhere = 0;
        for (int gpu = 0; gpu < peers.size; ++gpu) {
            all += mails[gpu][0] & ~UNNUMBERED;
            unnumbered |= mails[gpu][0] & UNNUMBERED;
            if (gpu != peers.rank) elsewhere += mails[gpu][1];
        }
        return all;
    };
    auto least_anywhere = [&]() {
        T least = infinity<T>();
        for (int gpu = 0; gpu < peers.size; ++gpu) {
            T one;
            memcpy(&one, mails[gpu] + 3, sizeof(T));
            if (one < least) least = one;
        }
        return least;
    };
    auto edges_anywhere = [&]() {
        unsigned long long all = 0;
        for (int gpu = 0; gpu < peers.size; ++gpu) all += mails[gpu][2];
        return up_to(all);
    };
    // Take over the distances of the others' lists, and call `take` with the place of each vertex among all that came,
    // and the vertex, or -1; by all lanes of a warp. Return whether all came.
    auto each_listed = [&](int begin, int stride, auto take) {
        bool came = true;
        for (int gpu = 0, before = 0; gpu < peers.size; ++gpu) {
            if (gpu == peers.rank) continue;
            const int there = mails[gpu][0] & ~UNNUMBERED;
            const bool unnumbered = mails[gpu][0] & UNNUMBERED;
            const int* const vertices = data_of(peers.rank, gpu);
            for (int base = begin; base < there; base += stride) {
                const int at = base + lane;
                int v = -1;
                T d = infinity<T>();
                if (at < there && unnumbered) {
                    v = __ldcg(vertices + at);
                    d = __ldcg(reinterpret_cast<const T*>(vertices + room_of(gpu)) + at);
                } else if (at < there) {
                    unsigned words[OF_ENTRY];
                    const auto* const entry = peers.list(peers.rank, gpu, number) + at * OF_ENTRY;
#pragma unroll
                    for (int i = 0; i < OF_ENTRY; ++i)
                        came = came && get_numbered(peers, entry + i, number, peers.patience, words[i]);
                    memcpy(&d, words + 1, sizeof(T));
                    if (came) v = words[0];
                }
                if (v >= 0) __stcg(distance + v, d);
                take(before + at, v);
            }
            before += there;
        }
        return came;
    };
    // The rest of an exchange, by all blocks: send the own vertices of the near pile, if that has not happened, and get
    // those of the others.
    auto exchange = [&](T least) {
        const unsigned own = near | (numbered(near) ? 0 : UNNUMBERED);
        if (done & UNSENT) {
            ++number;
            const int thread = blockIdx.x * THREADS + threadIdx.x, threads = gridDim.x * THREADS;
            for (int i = thread; i < near; i += threads) {
                const int v = __ldcg(pile(round) + i);
                if (!(own & UNNUMBERED)) {
                    send_entry(i, v);
                    continue;
                }
                const T d = __ldcg(distance + v);
                for (int gpu = 0; gpu < peers.size; ++gpu) {
                    if (gpu == peers.rank) continue;
                    int* const vertices = data_of(gpu, peers.rank);
                    vertices[i] = v;
                    reinterpret_cast<T*>(vertices + room_of(peers.rank))[i] = d;
                }
            }
            if (own & UNNUMBERED) grid_barrier(&control->arrived);
        }
        write_own_mail(own, far, least);
        if (done & UNSENT && blockIdx.x == 0 && warp == 0) send_mail(peers, number, mails[peers.rank], WORDS);
        const bool mailed = wait();
        phases.begin();
        Piles<T, Offset> merged{indptr,
                                {staged[0][warp], pile(round) + near, &phases.record()->near},
                                {staged[1][warp], later(side) + far, &phases.record()->far}};
        const auto take = [&](int, int v) { merged.add(v >= 0, false, v); };
        if (!mailed || !each_listed(global_warp * 32, global_warps * 32, take)) phases.record()->lost = 1;
        merged.finish(phases.record());
        const Phase<T> came = phases.end();
        unsigned unnumbered;
        near_anywhere(unnumbered);
        near += came.near;
        edges = up_to(edges + came.edges);
        if (done & RAISING && threadIdx.x == 0) {
            pace.edges = edges_anywhere();
            pace.turn(round, near ? bound : least_anywhere(), window);
        }
        lost = came.lost;
        done = MERGED;
        __syncthreads();
    };
    // Exchange by one block, if few vertices are near; otherwise say in `done` what is left. `at` is their half of `thin`.
    auto exchange_in_block = [&](int at, T least) {
        done = UNSENT;
        if (!numbered(near)) return;
        done = SENT;
        ++number;
        for (int q = threadIdx.x; q < near; q += THREADS) send_entry(q, thin[at][q]);
        write_own_mail(near, far_count, least);
        if (warp == 0) send_mail(peers, number, mails[peers.rank], WORDS);
        const bool mailed = wait();
        unsigned unnumbered;
        const int all = near_anywhere(unnumbered);
        if (mailed && (unnumbered || all > THIN)) return;
        done = MERGED;
        const bool came = mailed && each_listed(warp * 32, THREADS, [&](int i, int v) {
            if (v < 0) return;
            pile(round)[near + i] = v;
            thin[at][near + i] = v;
        });
        lost = __syncthreads_or(!came);
        near = all;
    };

    while (round < last && (near > 0 || far > 0 || (Several && elsewhere > 0)) && !(Several && lost)) {
        __syncthreads();
        if (near <= THIN && edges <= THIN_EDGES && (near > 0 || far <= THIN_FAR)) {  // one block, while it can
            phases.begin();
            if (blockIdx.x == 0) {
                const int first_side = side;
                int from = 0;
                bool heavy = false;
                for (int q = threadIdx.x; q < near; q += THREADS) thin[0][q] = __ldcg(pile(round) + q);
                if (threadIdx.x < 3) thin_count[threadIdx.x] = thin_edges[threadIdx.x] = 0;
                if (threadIdx.x < 3) thin_longs[threadIdx.x] = thin_hubs[threadIdx.x] = 0;
                if (threadIdx.x == 0) far_count = far;
                __syncthreads();
                while (round < last && near <= THIN) {
                    if (near == 0) {  // raise the bound
                        far = far_count;
                        if (far + (Several ? elsewhere : 0) == 0 || far > THIN_FAR) break;
                        const T next = raised(pace.origin, pace.window), most = cutoff(distance, limit, target);
                        __syncthreads();  // all have read the sizes
                        if (threadIdx.x == 0) far_left = 0, thin_count[0] = 0, thin_least = infinity<T>();
                        __syncthreads();
                        T least = infinity<T>();
                        for (int q = threadIdx.x; q < far; q += THREADS) {
                            const int v = __ldcg(later(side) + q);
                            const T d = __ldcg(distance + v);
                            const Sorted<T> goes(d, bound, next, most);
                            if (goes.near) {
                                const int at = atomicAdd(&thin_count[0], 1);
                                pile(round)[at] = v;
                                if (at < THIN) thin[from][at] = v;
                            }
                            if (goes.far) {
                                later(side ^ 1)[atomicAdd(&far_left, 1)] = v;
                                if (d < least) least = d;
                            } else {
                                clear_bit(waits, v);
                            }
                        }
                        least = least_of(least);
                        if (lane == 0 && least < infinity<T>()) lower(&thin_least, least);
                        __syncthreads();
                        near = thin_count[0];
                        far = far_left;
                        bound = next;
                        side ^= 1;
                        __syncthreads();
                        if constexpr (Several) {
                            if (threadIdx.x == 0) far_count = far;
                            __syncthreads();
                            exchange_in_block(from, thin_least);
                            if (done != MERGED) done |= RAISING;
                            if (done != MERGED || lost) break;
                            if (threadIdx.x == 0) {
                                pace.edges = edges_anywhere();
                                pace.turn(round, near ? bound : least_anywhere(), window);
                            }
                        } else if (threadIdx.x == 0) {
                            far_count = far;
                            pace.turn(round, near ? bound : thin_least, window);
                        }
                        if (threadIdx.x < 3) thin_count[threadIdx.x] = 0;
                        __syncthreads();
                        continue;
                    }
                    const int to = from ^ 1, slot = round % 3;
                    if (threadIdx.x == 0) {
                        const int coming = (round + 1) % 3;
                        thin_count[coming] = thin_edges[coming] = thin_longs[coming] = thin_hubs[coming] = 0;
                    }
                    Pushing<T, Offset> push = pushing(0);
                    Offset begin[EACH], end[EACH];
                    From<T> own[EACH];
                    int mine = 0;
#pragma unroll
                    for (int i = 0; i < EACH; ++i) {
                        const int q = threadIdx.x + i * THREADS;
                        begin[i] = end[i] = 0;
                        own[i] = {-1, T(0)};
                        if (q < near) {
                            const int u = thin[from][q];
                            own[i] = {u, __ldcg(distance + u)};
                            begin[i] = indptr[u], end[i] = indptr[u + 1];
                        }
                        mine += end[i] - begin[i] <= LITTLE ? static_cast<int>(end[i] - begin[i]) : LITTLE;
                    }
                    mine = __reduce_add_sync(ALL, mine);
                    if (lane == 0) atomicAdd(&thin_edges[slot], mine);
                    __syncthreads();
                    heavy = thin_edges[slot] > THIN_EDGES;
                    if (heavy) break;
                    if (threadIdx.x == 0) pace.add(thin_edges[slot]);
                    auto follow = [&](From<T> one, Offset e, Offset stop, Offset stride) {
                        // Some edges at a time, stage by stage, so that their latencies overlap.
                        constexpr int WIDTH = Graph<T, Offset>::WIDTH;
                        for (; e < stop; e += WIDTH * stride) {
                            int v[WIDTH];
                            T x[WIDTH];
                            T known[WIDTH];
                            int was[WIDTH];
#pragma unroll
                            for (int i = 0; i < WIDTH; ++i) {
                                const bool there = e + i * stride < stop;
                                v[i] = there ? indices[e + i * stride] : -1;
                                x[i] = there ? sum(one.distance, weights[e + i * stride]) : infinity<T>();
                            }
#pragma unroll
                            for (int i = 0; i < WIDTH; ++i) known[i] = v[i] >= 0 ? __ldcg(distance + v[i]) : x[i];
#pragma unroll
                            for (int i = 0; i < WIDTH; ++i) {
                                if (!(x[i] < known[i] && x[i] <= push.most)) v[i] = -1;
                                was[i] = v[i] >= 0 ? push.enter(one, v[i], x[i]) : 0;
                            }
#pragma unroll
                            for (int i = 0; i < WIDTH; ++i) {
                                if (v[i] < 0) continue;
                                if (push.joins_near(x[i], was[i])) {
                                    const int at = atomicAdd(&thin_count[slot], 1);
                                    pile(round + 1)[at] = v[i];
                                    if (at < THIN) thin[to][at] = v[i];
                                } else if (push.joins_far(v[i], x[i], was[i])) {
                                    later(side)[atomicAdd(&far_count, 1)] = v[i];
                                }
                            }
                        }
                    };
#pragma unroll
                    for (int i = 0; i < EACH; ++i) {
                        if (end[i] - begin[i] >= PIECE) {  // from the end of the list on
                            longs[LONGS - 1 - atomicAdd(&thin_hubs[slot], 1)] = own[i];
                        } else if (end[i] - begin[i] > SERIAL) {
                            longs[atomicAdd(&thin_longs[slot], 1)] = own[i];
                        } else {
                            follow(own[i], begin[i], end[i], 1);
                        }
                    }
                    __syncthreads();
                    // A warp to a long list, then the block to each hub's.
                    const int put_off = thin_longs[slot], hubs = LONGS - thin_hubs[slot];
                    for (int l = warp < put_off ? warp : hubs; l < LONGS;) {
                        const bool alone = l < put_off;
                        const From<T> one = longs[l];
                        follow(one, indptr[one.vertex] + (alone ? lane : threadIdx.x), indptr[one.vertex + 1],
                               alone ? 32 : THREADS);
                        l += alone ? WARPS : 1;
                        if (alone && l >= put_off) l = hubs;
                    }
                    if (put_off || hubs < LONGS) __syncthreads();
                    near = thin_count[slot];
                    from = to;
                    ++round;
                    if constexpr (Several) {
                        exchange_in_block(from, infinity<T>());
                        if (done != MERGED || lost) break;
                    }
                }
                __syncthreads();
                if (threadIdx.x == 0) {
                    Phase<T>* record = phases.record();
                    if constexpr (Several) {
                        control->exchange = done;
                        control->elsewhere = elsewhere;
                        control->number = number;
                        record->least = thin_least;
                        record->lost = lost;
                    }
                    record->near = near;
                    record->far = far_count;
                    record->round = round;
                    record->turned = side ^ first_side;
                    record->edges = heavy ? thin_edges[round % 3] : near > THIN ? THIN_EDGES + 1 : 0;
                    record->bound = bound;
                    record->pace = pace;
                }
                side = first_side;
            }
            const Phase<T> ran = phases.end();
            near = ran.near;
            far = ran.far;
            edges = up_to(ran.edges);
            round = ran.round;
            side ^= ran.turned;
            bound = ran.bound;
            if (threadIdx.x == 0) pace = ran.pace;
            if constexpr (Several) {
                done = __ldcg(&control->exchange);
                elsewhere = __ldcg(&control->elsewhere);
                const unsigned last_number = __ldcg(&control->number);
                if (last_number != number) first_wait = false;
                number = last_number;
                lost = ran.lost;
                if (done != MERGED && !lost) exchange(ran.least);
            }
        } else if (near == 0) {  // raise the bound, with all blocks
            const T next = raised(pace.origin, pace.window), most = cutoff(distance, limit, target);
            phases.begin();
            Piles<T, Offset> sorted{indptr,
                                    {staged[0][warp], pile(round), &phases.record()->near},
                                    {staged[1][warp], later(side ^ 1), &phases.record()->far}};
            T least = infinity<T>();
            for (int base = global_warp * 32; base < far; base += global_warps * 32) {
                bool is_near = false, is_far = false;
                int v = -1;
                if (base + lane < far) {
                    v = __ldcg(later(side) + base + lane);
                    const T d = __ldcg(distance + v);
                    const Sorted<T> goes(d, bound, next, most);
                    is_near = goes.near, is_far = goes.far;
                    if (is_far && d < least) least = d;
                    if (!is_far) clear_bit(waits, v);
                }
                sorted.add(is_near, is_far, v);
            }
            sorted.finish(phases.record());
            least = least_of(least);
            if (lane == 0 && least < infinity<T>()) lower(&phases.record()->least, least);
            const Phase<T> went = phases.end();
            near = went.near;
            far = went.far;
            edges = up_to(went.edges);
            bound = next;
            if (!Several && threadIdx.x == 0) pace.turn(round, near ? bound : went.least, window);
            side ^= 1;
            if constexpr (Several) {
                done = UNSENT | RAISING;
                exchange(went.least);
            }
        } else {  // a round with all blocks: a lane, a warp or many warps to a vertex, by its degree
            if (threadIdx.x == 0) pace.add(edges);
            phases.begin();
            {
                Pushing<T, Offset> push = pushing(0);
                const int take = min(32, (near + global_warps - 1) / global_warps);
                for (int base = global_warp * take; base < near; base += global_warps * take) {
                    From<T> own{-1, T(0)};
                    if (lane < take && base + lane < near) {
                        own.vertex = __ldcg(pile(round) + base + lane);
                        own.distance = __ldcg(distance + own.vertex);
                    }
                    graph.each(own, pieces, &phases.record()->pieces, push);
                }
                push.piles.finish(phases.record());
            }
            const Phase<T> pushed = phases.end();
            near = pushed.near;
            far += pushed.far;
            edges = up_to(pushed.edges);
            if (pushed.pieces) {
                phases.begin();
                Pushing<T, Offset> push = pushing(near);
                graph.rest(pieces, pushed.pieces, distance, push);
                push.piles.finish(phases.record());
                const Phase<T> rest = phases.end();
                near += rest.near;
                far += rest.far;
                edges += up_to(rest.edges);
            }
            ++round;
            if constexpr (Several) {
                done = UNSENT;
                exchange(infinity<T>());
            }
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        control->round = round;
        control->near = near;
        control->far = far;
        control->side = side;
        bounds[0] = bound;
        if constexpr (Several) {
            control->elsewhere = elsewhere;
            control->lost = lost;
            close_peers(peers, number);
        }
    }
}

// Begin with the seeds as the near pile, at distance zero, and with the first bound: the control words are zero before.
template <typename T>
__global__ void __launch_bounds__(THREADS, 1)
    start(const int* __restrict__ seeds, int count, T window, T* distance, int* near, T* bounds, Control<T>* control) {
    const int own = blockIdx.x * THREADS + threadIdx.x;
    for (int i = own; i < count; i += gridDim.x * THREADS) {
        distance[seeds[i]] = T(0);
        near[i] = seeds[i];
    }
    if (own == 0) {
        control->near = count;
        bounds[0] = window;
    }
}

// Take over what other shards have found: put the vertices outside [lo, hi), lo a multiple of 32, whose distance is less
// than the one in `known` on the near pile, and lower the bound to the least of them and a window. `mask` gets those
// inside, from which the other shards have yet to go on. Pushes reach vertices of [lo, hi) only, so no pile has one of
// the others already.
template <typename T>
__global__ void __launch_bounds__(THREADS, 1)
    join(int n, int lo, int hi, const T* __restrict__ distance, T* known, unsigned* mask, int* near_piles, T* bounds,
         Control<T>* control, T window) {
    const int lane = threadIdx.x % 32, words = (n + 31) / 32;
    int* const pile = near_piles + (control->round % 2 ? n : 0);
    T least = infinity<T>();
    for (int w = blockIdx.x * WARPS + threadIdx.x / 32; w < words; w += gridDim.x * WARPS) {
        const int v = w * 32 + lane;
        const T d = v < n ? distance[v] : infinity<T>();
        const bool fell = v < n && d < known[v], inside = w * 32 >= lo && w * 32 < hi;
        if (fell) known[v] = d;
        const unsigned all = __ballot_sync(ALL, fell);
        if (inside) {
            if (lane == 0) mask[w] = all;
        } else if (all) {
            int at = 0;
            if (lane == 0) at = atomicAdd(&control->near, __popc(all));
            at = __shfl_sync(ALL, at, 0);
            if (fell) pile[at + __popc(all & ((1u << lane) - 1))] = v;
            if (fell && d < least) least = d;
        }
    }
    least = least_of(least);
    if (lane == 0 && least < infinity<T>()) lower(bounds, raised(least, window));
}

// Lowers the updating costs of the vertices from lo on, and sets the bits of those that fell.
template <typename T, typename Offset> struct Updating {
    T* updating;
    unsigned* fell;
    int lo;
    T most;

    __device__ __forceinline__ bool promises(const From<T>&, Offset, int v, T x) const {
        return x <= most && x < __ldcg(updating + (v - lo));
    }
    __device__ __forceinline__ int enter(const From<T>&, int v, T x) const {
        lower(updating + (v - lo), x);
        if (!(__ldcg(fell + (v - lo) / 32) >> (v % 32) & 1u)) set_bit(fell, v - lo);
        return 0;
    }
    __device__ __forceinline__ void take(bool, int, T, int) const {}
};

// Call each(w, bits, d) for the words of a bitmap of vertices that are not zero, with all lanes of a warp; d is the
// distance of the lane's vertex if its bit is set. A lane reads a word, and distances are read four words at a time.
template <typename T, typename Each>
__device__ __forceinline__ void each_word(const unsigned* bitmap, int words, const T* distance, Each each) {
    constexpr int WIDTH = 4;
    const int lane = threadIdx.x % 32;
    const int warp = blockIdx.x * WARPS + threadIdx.x / 32, warps = gridDim.x * WARPS;
    for (int base = warp * 32; base < words; base += warps * 32) {
        const unsigned own = base + lane < words ? __ldcg(bitmap + base + lane) : 0;
        unsigned left = __ballot_sync(ALL, own != 0);
        while (left) {
            int w[WIDTH];
            unsigned bits[WIDTH];
            T d[WIDTH];
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) {
                const int owner = left ? __ffs(left) - 1 : 0;
                w[i] = base + owner;
                bits[i] = __shfl_sync(ALL, own, owner);
                if (!left) bits[i] = 0;
                left &= left - 1;
                d[i] = bits[i] >> lane & 1u ? __ldcg(distance + w[i] * 32 + lane) : infinity<T>();
            }
#pragma unroll
            for (int i = 0; i < WIDTH; ++i)
                if (bits[i]) each(w[i], bits[i], d[i]);
        }
    }
}

// Run up to `rounds` rounds over masks for the targets [lo, hi), lo a multiple of 32. A cooperative launch. `mask` has
// a bit for each of the n vertices that fell since they were last looked at. Those within the bound are taken to
// `queue`, so that every lane has a vertex; the others wait in the bitmap `waits` until the bound is raised. `fell` is
// zero between rounds. `bounds` has the bound and the least distance of those that wait.
//
// A launch leaves the shard's own words of the mask, its own distances, and a list of the vertices that fell in its
// last round: `vertices` and `values` have `length` places for each of the shards, and `counts` how many fell, or -1 if
// no round was run. Shards exchange either the mask and the distances, or, if they fit, only the lists: then the next
// launch is `listed`, and takes over the others' lists.
template <typename T, typename Offset>
__global__ void __launch_bounds__(THREADS, 1)
    masks(const Offset* __restrict__ indptr, const int* __restrict__ indices, const T* __restrict__ weights, int n,
          int lo, int hi, T* distance, T* updating, unsigned* mask, unsigned* waits, unsigned* fell, int* queue,
          Piece* pieces, T* bounds, int* vertices, T* values, int* counts, int length, int shards, int shard,
          bool listed, Control<T>* control, T window, T limit, int target, int rounds) {
    __shared__ int staged[WARPS][64];
    const int lane = threadIdx.x % 32;
    const int thread = blockIdx.x * THREADS + threadIdx.x, threads = gridDim.x * THREADS;
    const int global_warp = thread / 32, global_warps = threads / 32;
    const int words = (n + 31) / 32, own_words = (hi - lo + 31) / 32;
    const Graph<T, Offset> graph{indptr, indices, weights};
    int round = control->round, done = 0, all_fell = -1;
    T bound = bounds[0], waiting = bounds[1];
    Phases<T> phases(control);

    if (listed) {
        phases.begin();
        for (int s = 0; s < shards; ++s) {
            const long long first = static_cast<long long>(s) * length;
            for (int i = thread; s != shard && i < counts[s]; i += threads) {
                const int v = vertices[first + i];
                distance[v] = values[first + i];
                set_bit(mask, v);
            }
        }
        phases.end();
    }
    while (done < rounds) {
        const T most = cutoff(distance, limit, target);
        // Take the vertices of a bitmap below `next` to the queue; of those that wait only from `bound` on, as the
        // others have been taken since.
        auto take = [&](const unsigned* bitmap, T next) {
            phases.begin();
            T least = infinity<T>();
            Appender append{staged[threadIdx.x / 32], queue, &phases.record()->near};
            each_word(bitmap, words, distance, [&](int w, unsigned bits, T d) {
                const bool there = (bits >> lane & 1u) && d <= most, later = there && d >= next;
                if (later && d < least) least = d;
                const unsigned kept = __ballot_sync(ALL, later);
                if (lane == 0) {
                    if (bitmap == mask) mask[w] = 0;
                    if (bitmap != mask || kept) waits[w] = bitmap == mask ? __ldcg(waits + w) | kept : kept;
                }
                append.add(there && d < next && (bitmap == mask || d >= bound), w * 32 + lane, [](int) {});
            });
            append.flush(append.held, [](int) {});
            least = least_of(least);
            if (lane == 0 && least < infinity<T>()) lower(&phases.record()->least, least);
            return phases.end();
        };
        Phase<T> taken = take(mask, bound);
        if (taken.least < waiting) waiting = taken.least;
        if (!taken.near) {
            if (!(waiting < infinity<T>())) break;
            T next = raised(waiting, window);
            while (!(waiting < next)) next = raised(waiting, window = raised(window, window));
            taken = take(waits, next);
            bound = next;
            waiting = taken.least;
            if (!taken.near) continue;  // those fell below the bound before
        }
        phases.begin();
        Updating<T, Offset> update{updating, fell, lo, most};
        const int each = min(32, (taken.near + global_warps - 1) / global_warps);
        for (int base = global_warp * each; base < taken.near; base += global_warps * each) {
            From<T> own{-1, T(0)};
            if (lane < each && base + lane < taken.near) {
                own.vertex = __ldcg(queue + base + lane);
                own.distance = __ldcg(distance + own.vertex);
            }
            graph.each(own, pieces, &phases.record()->pieces, update);
        }
        const int put_off = phases.end().pieces;
        if (put_off) {
            phases.begin();
            graph.rest(pieces, put_off, distance, update);
            phases.end();
        }
        phases.begin();  // take over the costs that fell
        for (int base = global_warp * 32; base < own_words; base += global_warps * 32) {
            const unsigned own = base + lane < own_words ? __ldcg(fell + base + lane) : 0;
            unsigned left = __ballot_sync(ALL, own != 0);
            if (!left) continue;
            if (own) {
                fell[base + lane] = 0;
                mask[lo / 32 + base + lane] = __ldcg(mask + lo / 32 + base + lane) | own;
            }
            const int before = running_sum(__popc(own)), all = __shfl_sync(ALL, before, 31);
            int at = 0;
            if (lane == 0) at = atomicAdd(&phases.record()->far, all);
            at = __shfl_sync(ALL, at, 0);
            for (; left; left &= left - 1) {
                const int owner = __ffs(left) - 1;
                const unsigned bits = __shfl_sync(ALL, own, owner);
                const int place = at + __shfl_sync(ALL, before, owner) - __popc(bits >> lane);
                if (!(bits >> lane & 1u)) continue;
                const int v = (base + owner) * 32 + lane;
                const T x = __ldcg(updating + v);
                distance[lo + v] = x;
                if (place >= length) continue;
                vertices[static_cast<long long>(shard) * length + place] = lo + v;
                values[static_cast<long long>(shard) * length + place] = x;
            }
        }
        all_fell = phases.end().far;
        ++round, ++done;
    }
    if (thread == 0) {
        control->round = round;
        bounds[0] = bound;
        bounds[1] = waiting;
        counts[shard] = all_fell;
    }
}
