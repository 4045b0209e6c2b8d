// Betweenness by edges, 32 W sources at a time that share their reads of edges; a launch takes a batch.
//
// Algorithm. Brandes (2001), as in betweenness.cu. All searches of a batch go level by level, as in bfs_many.cu: a word
// of a vertex says in which of them it is new. A vertex that some search has not seen yet gathers: it reads the words
// of its in-neighbours, and where one is new to a search that has not seen the vertex, the number of paths there. If
// few edges leave a level, these are followed first, to list the vertices that gather (`push`); otherwise all do. A
// vertex and the word of the searches that find it at a level are an event. The list of events, level by level, is read
// backwards to gather dependencies from out-neighbours, by the same words.
//
// Encoding. `rows` has 32 W numbers of each vertex, a lane's each: first c, the number of paths. Once a vertex has its
// dependency d, x = (d + 1 if it is a target) / c takes the place of c, as the vertices before need only x. The words
// in `fronts` are those of an even level and of an odd one. Bits that no search uses count as seen.
//
// Cost. Each level that is not sparse reads the words of all edges whose target is not seen by all, each event the words
// of its edges once more. 8 bytes are read for an edge on a shortest path of a search, forward and backward. Each search
// reads a part of the same line, and a part of 32 bytes serves four.
//
// A warp takes a vertex, a lane each search of a word. Of vertices with more than HUB edges, warps take pieces, whose
// sums are added up in their order. `DEEP` levels and the room for events bound all loops: beyond, `full` is set and
// nothing is added.
//
// Races. Counters are used in turn, three stages' each: while one stage counts, the one before may still be read, and
// the next is cleared. A vertex is the one warp's that writes its row, words and sums. All sums are gathered, each in
// the same order, so results do not differ from run to run.
//
// Sources. U. Brandes, "A faster algorithm for betweenness centrality", 2001. A. E. Sariyuce, E. Saule, K. Kaya, U. V.
// Catalyurek, "Regularizing graph centrality computations", 2015 (searches that share reads).

#include "warp.cuh"
#include "bitmap.cuh"
#include "grid.cuh"
#include "hubs.cuh"

constexpr int THREADS = 256;
constexpr int DEEP = 256;    // levels
constexpr int SPARSE = 16;   // a level is sparse if its edges are this part of all
constexpr int AHEAD = 4;     // rows that are read at the same time
constexpr double LARGE = 0x1p1000;

using Index = unsigned long long;

struct Stage {
    Index hubs, edges;  // put off, as hubs.cuh counts; that leave the vertices found
    unsigned found, listed;
};

struct Control {
    unsigned arrived;
    int full;
    Stage stages[3];
    unsigned starts[DEEP + 2];
};

template <int W> struct alignas(4 * W) Words {
    unsigned at[W];

    __device__ __forceinline__ void operator|=(const Words& other) {
#pragma unroll
        for (int w = 0; w < W; ++w) at[w] |= other.at[w];
    }
    // The bits that `other` has not.
    __device__ __forceinline__ Words without(const Words& other) const {
        Words rest;
#pragma unroll
        for (int w = 0; w < W; ++w) rest.at[w] = at[w] & ~other.at[w];
        return rest;
    }
    __device__ __forceinline__ bool any() const {
        unsigned bits = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) bits |= at[w];
        return bits != 0;
    }
    // What the lane `owner` has, or what all lanes of the warp have together.
    __device__ __forceinline__ Words of(int owner) const {
        Words theirs;
#pragma unroll
        for (int w = 0; w < W; ++w) theirs.at[w] = __shfl_sync(ALL, at[w], owner);
        return theirs;
    }
    __device__ __forceinline__ Words together() const {
        Words all;
#pragma unroll
        for (int w = 0; w < W; ++w) all.at[w] = __reduce_or_sync(ALL, at[w]);
        return all;
    }
    __device__ __forceinline__ bool lane_has(int w) const { return at[w] >> (threadIdx.x % 32) & 1u; }
};

template <typename Offset> struct Edges {
    const Offset* indptr;
    const int* indices;
};

template <typename Offset, int W> struct Batch {
    Edges<Offset> out, in;
    int n, k;
    const int* sources;
    const bool* targets;
    bool endpoints;
    Words<W>*seen, *fronts;
    double* rows;
    int* vertices;  // of the events,
    Words<W>* masks;
    unsigned capacity;
    unsigned* listed;  // a bit each vertex
    int* list;
    Hub* hubs;
    double* parts;  // sums of pieces of hubs,
    Words<W>* met;  // and what searches they serve
    Control* control;
    double* sums;
    int* trouble;
    int lane, warp, warps;

    __device__ __forceinline__ Words<W>* front(int level) const { return fronts + (level % 2) * static_cast<Index>(n); }
    __device__ __forceinline__ double* row(int v) const { return rows + static_cast<Index>(v) * (32 * W) + lane; }
    __device__ __forceinline__ double* part(Index p) const { return parts + p * (32 * W) + lane; }

    // The counters of a stage, while those of the next are cleared.
    __device__ __forceinline__ Stage* stage(unsigned number) const {
        if (blockIdx.x == 0 && threadIdx.x == 0) control->stages[(number + 1) % 3] = Stage{};
        return control->stages + number % 3;
    }
};

// Add to `sum` the rows of the neighbours at the edges [e, last), of each search that wants them and has them in
// `front`; these searches are added to the lanes' `met`. With EDGES, the products with the row of u, the numbers of
// paths to it, are added up for each edge.
template <bool EDGES, typename Offset, int W>
__device__ __forceinline__ void gather(const Batch<Offset, W>& b, const int* __restrict__ indices, Offset e,
                                       Offset last, const Words<W>& want, const Words<W>* front, int u,
                                       double (&sum)[W], Words<W>& met) {
    for (; e < last; e += 32) {
        const Offset own = e + b.lane;
        int next = 0;
        Words<W> bits{};
        if (own < last) {
            next = indices[own];
            bits = front[next];
        }
#pragma unroll
        for (int w = 0; w < W; ++w) bits.at[w] &= want.at[w];
        met |= bits;
        double passing = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) {
            for (unsigned left = __ballot_sync(ALL, bits.at[w] != 0); left;) {
                double term[AHEAD];
                int from[AHEAD];
#pragma unroll
                for (int i = 0; i < AHEAD; ++i) {
                    from[i] = left ? __ffs(left) - 1 : -1;
                    left &= left - 1;
                    const int v = __shfl_sync(ALL, next, from[i] & 31);
                    const unsigned mask = __shfl_sync(ALL, bits.at[w], from[i] & 31);
                    term[i] = from[i] >= 0 && mask >> b.lane & 1u ? b.row(v)[32 * w] : 0.0;
                }
                sum[w] += (term[0] + term[1]) + (term[2] + term[3]);
                if constexpr (EDGES) {
                    const double paths = want.lane_has(w) ? b.row(u)[32 * w] : 0.0;
#pragma unroll
                    for (int i = 0; i < AHEAD; ++i) {
                        if (from[i] < 0) break;
                        const double through = sum_of_lanes(paths * term[i]);
                        if (b.lane == from[i]) passing += through;
                    }
                }
            }
        }
        if (EDGES && own < last && passing != 0) b.sums[own] += passing;
    }
}

// Make events of the lanes' vertices that are new to some searches, at a level whose events start at `begin`.
template <typename Offset, int W>
__device__ __forceinline__ void settle(const Batch<Offset, W>& b, int v, const Words<W>& fresh, int level,
                                       unsigned begin, Stage* stage) {
    const bool found = fresh.any();
    const unsigned all = __ballot_sync(ALL, found);
    if (!all) return;
    const Index degree = found ? b.out.indptr[v + 1] - b.out.indptr[v] : 0;
    const Index edges = sum_of_lanes(degree);
    unsigned place = 0;
    if (b.lane == 0) {
        place = atomicAdd(&stage->found, static_cast<unsigned>(__popc(all)));
        atomicAdd(&stage->edges, edges);
    }
    place = begin + __shfl_sync(ALL, place, 0) + __popc(all & ((1u << b.lane) - 1));
    if (!found) return;
    if (place < b.capacity) {
        b.vertices[place] = v;
        b.masks[place] = fresh;
    }
    Words<W> known = b.seen[v];
    known |= fresh;
    b.seen[v] = known;
    b.front(level)[v] = fresh;
}

// Call take(piece, row, begin, end) for each piece of the rows that were put off: edges of row(hub).
template <typename Offset, int W, typename Row, typename Take>
__device__ __forceinline__ void each_hub_piece(const Batch<Offset, W>& b, Index total, const Offset* indptr, Row row,
                                               Take take) {
    const unsigned count = total >> 32, pieces = static_cast<unsigned>(total);
    for (unsigned p = b.warp; p < pieces; p += b.warps) {
        unsigned h = 0;
        for (unsigned above = count; above - h > 1;) {
            const unsigned middle = (h + above) / 2;
            (b.hubs[middle].first <= p ? h : above) = middle;
        }
        const int v = row(b.hubs[h].row);
        const Offset begin = indptr[v] + static_cast<Offset>(p - b.hubs[h].first) * HUB, end = indptr[v + 1];
        take(p, b.hubs[h].row, begin, begin + HUB < end ? begin + HUB : end);
    }
}

// Call take(row, sum, met) with the sums over the pieces of each row that was put off, in their order.
template <typename Offset, int W, typename Take>
__device__ __forceinline__ void each_hub(const Batch<Offset, W>& b, Index total, Take take) {
    const unsigned count = total >> 32, pieces = static_cast<unsigned>(total);
    for (unsigned h = b.warp; h < count; h += b.warps) {
        const unsigned end = h + 1 < count ? b.hubs[h + 1].first : pieces;
        double sum[W] = {};
        Words<W> met{};
        for (unsigned p = b.hubs[h].first; p < end; ++p) {
            met |= b.met[p];
#pragma unroll
            for (int w = 0; w < W; ++w) sum[w] += b.part(p)[32 * w];
        }
        take(b.hubs[h].row, sum, met);
    }
}

template <typename Offset, int W>
__device__ __forceinline__ void keep_part(const Batch<Offset, W>& b, unsigned piece, const double (&sum)[W],
                                          const Words<W>& met) {
#pragma unroll
    for (int w = 0; w < W; ++w) b.part(piece)[32 * w] = sum[w];
    const Words<W> all = met.together();
    if (b.lane == 0) b.met[piece] = all;
}

// Write the numbers of paths of a vertex for the searches that find it.
template <typename Offset, int W>
__device__ __forceinline__ void keep_counts(const Batch<Offset, W>& b, int v, const double (&sum)[W],
                                            const Words<W>& met) {
#pragma unroll
    for (int w = 0; w < W; ++w)
        if (met.lane_has(w)) b.row(v)[32 * w] = sum[w];
}

// Clear the words of the events [begin, end), to make room for those of a level.
template <typename Offset, int W>
__device__ __forceinline__ void clear(const Batch<Offset, W>& b, int level, unsigned begin, unsigned end) {
    for (unsigned place = begin + b.warp * 32 + b.lane; place < end; place += b.warps * 32)
        b.front(level)[b.vertices[place]] = Words<W>{};
}

// List a vertex that some search reaches from a level, once.
template <typename Offset, int W>
__device__ __forceinline__ void reach(const Batch<Offset, W>& b, int v, const Words<W>& mask, Stage* stage) {
    if (!mask.without(b.seen[v]).any() || has_bit(b.listed, v)) return;
    if (set_bit(b.listed, v) >> (v % 32) & 1u) return;
    b.list[atomicAdd(&stage->listed, 1u)] = v;
}

// List the vertices that a level's events [begin, end) reach; return how many. The words of the level before, whose
// events start at `before`, are cleared.
template <typename Offset, int W>
__device__ unsigned push(const Batch<Offset, W>& b, int level, unsigned before, unsigned begin, unsigned end,
                         Stage* stage) {
    clear(b, level + 1, before, begin);
    for (unsigned base = begin + b.warp * 32; base < end; base += b.warps * 32) {
        const unsigned place = base + b.lane;
        Offset e = 0, last = 0;
        Words<W> mask{};
        if (place < end) {
            const int u = b.vertices[place];
            mask = b.masks[place], e = b.out.indptr[u], last = b.out.indptr[u + 1];
        }
        if (last - e > HUB) {
            put_off(b.hubs, &stage->hubs, static_cast<int>(place), last - e);
            last = e;
        }
        for (unsigned left = __ballot_sync(ALL, e < last); left; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const Words<W> theirs = mask.of(owner);
            const Offset stop = __shfl_sync(ALL, last, owner);
            for (Offset at = __shfl_sync(ALL, e, owner) + b.lane; at < stop; at += 32)
                reach(b, b.out.indices[at], theirs, stage);
        }
    }
    grid_barrier(&b.control->arrived);
    const Index total = stage->hubs;
    if (total) {
        each_hub_piece(
            b, total, b.out.indptr, [&](int place) { return b.vertices[place]; },
            [&](unsigned, int place, Offset e, Offset last) {
                const Words<W> mask = b.masks[place];
                for (Offset at = e + b.lane; at < last; at += 32) reach(b, b.out.indices[at], mask, stage);
            });
        grid_barrier(&b.control->arrived);
    }
    return stage->listed;
}

// Gather the numbers of paths of the vertices at a level, of `count` vertices or of a list of so many, and make them
// events from `begin` on.
template <typename Offset, int W>
__device__ void find(const Batch<Offset, W>& b, int level, const int* list, unsigned count, unsigned begin,
                     Stage* stage) {
    const Words<W>* front = b.front(level - 1);
    for (unsigned base = b.warp * 32; base < count; base += b.warps * 32) {
        const unsigned place = base + b.lane;
        int v = 0;
        Words<W> want{}, fresh{};
        Offset e = 0, last = 0;
        if (place < count) {
            v = list ? list[place] : place;
            if (list)
                clear_bit(b.listed, v);
            else
                b.front(level)[v] = Words<W>{};
#pragma unroll
            for (int w = 0; w < W; ++w) want.at[w] = ~b.seen[v].at[w];
            if (want.any()) e = b.in.indptr[v], last = b.in.indptr[v + 1];
        }
        if (last - e > HUB) {
            put_off(b.hubs, &stage->hubs, v, last - e);
            last = e;
        }
        for (unsigned left = __ballot_sync(ALL, e < last); left; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            double sum[W] = {};
            Words<W> met{};
            gather<false>(b, b.in.indices, __shfl_sync(ALL, e, owner), __shfl_sync(ALL, last, owner), want.of(owner),
                          front, 0, sum, met);
            met = met.together();
            keep_counts(b, __shfl_sync(ALL, v, owner), sum, met);
            if (b.lane == owner) fresh = met;
        }
        settle(b, v, fresh, level, begin, stage);
    }
    grid_barrier(&b.control->arrived);
    const Index total = stage->hubs;
    if (!total) return;
    each_hub_piece(
        b, total, b.in.indptr, [](int v) { return v; },
        [&](unsigned piece, int v, Offset e, Offset last) {
            double sum[W] = {};
            Words<W> met{}, want;
#pragma unroll
            for (int w = 0; w < W; ++w) want.at[w] = ~b.seen[v].at[w];
            gather<false>(b, b.in.indices, e, last, want, front, v, sum, met);
            keep_part(b, piece, sum, met);
        });
    grid_barrier(&b.control->arrived);
    each_hub(b, total, [&](int v, const double(&sum)[W], const Words<W>& met) {
        keep_counts(b, v, sum, met);
        settle(b, v, b.lane == 0 ? met : Words<W>{}, level, begin, stage);
    });
    grid_barrier(&b.control->arrived);
}

// Write x of a vertex at a level in place of its numbers of paths, and add up its dependencies; `sum` is that of x over
// the vertices behind.
template <bool EDGES, typename Offset, int W>
__device__ __forceinline__ void finish(const Batch<Offset, W>& b, int level, int u, const Words<W>& mask,
                                       const double (&sum)[W]) {
    const bool target = b.targets[u];
    double all = 0;
#pragma unroll
    for (int w = 0; w < W; ++w)
        if (mask.lane_has(w)) {
            const bool source = b.sources[32 * w + b.lane] == u;
            const double paths = b.row(u)[32 * w], passing = paths * sum[w];
            if (!(paths <= LARGE)) b.trouble[0] = 1;
            b.row(u)[32 * w] = (passing + (target && !source)) / paths;
            if (!source)
                all += passing + (b.endpoints && target);
            else if (b.endpoints)
                all += rint(passing);  // the number of targets within reach
        }
    if (!EDGES) all = sum_of_lanes(all);
    if (b.lane) return;
    if (!EDGES && all != 0) b.sums[u] += all;
    b.front(level)[u] = mask;
}

// Gather the dependencies of the events [begin, end) of a level; of the last one, there is nothing behind.
template <bool EDGES, typename Offset, int W>
__device__ void depend(const Batch<Offset, W>& b, int level, bool is_last, unsigned begin, unsigned end,
                       Stage* stage) {
    const Words<W>* front = b.front(level + 1);
    for (unsigned base = begin + b.warp * 32; base < end; base += b.warps * 32) {
        const unsigned place = base + b.lane;
        int u = 0;
        Words<W> mask{};
        Offset e = 0, last = 0;
        bool own = place < end;
        if (own) {
            u = b.vertices[place], mask = b.masks[place];
            if (!is_last) e = b.out.indptr[u], last = b.out.indptr[u + 1];
        }
        if (last - e > HUB) {
            put_off(b.hubs, &stage->hubs, static_cast<int>(place), last - e);
            own = false;
        }
        for (unsigned left = __ballot_sync(ALL, own); left; left &= left - 1) {
            const int owner = __ffs(left) - 1, v = __shfl_sync(ALL, u, owner);
            const Words<W> theirs = mask.of(owner);
            double sum[W] = {};
            Words<W> met{};
            gather<EDGES>(b, b.out.indices, __shfl_sync(ALL, e, owner), __shfl_sync(ALL, last, owner), theirs, front, v,
                          sum, met);
            finish<EDGES>(b, level, v, theirs, sum);
        }
    }
    grid_barrier(&b.control->arrived);
    const Index total = stage->hubs;
    if (!total) return;
    each_hub_piece(
        b, total, b.out.indptr, [&](int place) { return b.vertices[place]; },
        [&](unsigned piece, int place, Offset e, Offset last) {
            const Words<W> mask = b.masks[place];
            double sum[W] = {};
            Words<W> met{};
            gather<EDGES>(b, b.out.indices, e, last, mask, front, b.vertices[place], sum, met);
            keep_part(b, piece, sum, met);
        });
    grid_barrier(&b.control->arrived);
    each_hub(b, total, [&](int place, const double(&sum)[W], const Words<W>&) {
        finish<EDGES>(b, level, b.vertices[place], b.masks[place], sum);
    });
    grid_barrier(&b.control->arrived);
}

// Clear all words, and make the sources the events of level 0.
template <typename Offset, int W> __device__ void plant(const Batch<Offset, W>& b, Stage* stage) {
    const Index thread = static_cast<Index>(b.warp) * 32 + b.lane, threads = static_cast<Index>(b.warps) * 32;
    Words<W> unused{};
    for (int i = b.k; i < 32 * W; ++i) unused.at[i / 32] |= 1u << (i % 32);
    for (Index v = thread; v < b.n; v += threads) {
        b.seen[v] = unused, b.front(0)[v] = b.front(1)[v] = Words<W>{};
        if (v <= b.n / 32) b.listed[v] = 0;
    }
    grid_barrier(&b.control->arrived);
    const int v = thread < b.k ? b.sources[thread] : 0;
    if (thread < b.k) {
        atomicOr(&b.front(0)[v].at[thread / 32], 1u << (thread % 32));
        b.row(v)[thread / 32 * 32] = 1;
    }
    grid_barrier(&b.control->arrived);
    if (b.warp < W) {
        Words<W> fresh{};
        if (thread < b.k) fresh = b.front(0)[v];
        int first = 32 * W;  // of the searches from this source; it makes the event
#pragma unroll
        for (int w = W - 1; w >= 0; --w)
            if (fresh.at[w]) first = 32 * w + __ffs(fresh.at[w]) - 1;
        settle(b, v, first == thread ? fresh : Words<W>{}, 0, 0, stage);
    }
    grid_barrier(&b.control->arrived);
}

template <typename Offset, int W, bool EDGES>
__global__ void __launch_bounds__(THREADS, EDGES || W > 1 ? 3 : 4)
    together(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices,
             const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, int n,
             const int* __restrict__ sources, int k, const bool* __restrict__ targets, int limit, bool endpoints,
             Words<W>* seen, Words<W>* fronts, double* rows, int* vertices, Words<W>* masks, unsigned capacity,
             unsigned* listed, int* list, Hub* hubs, double* parts, Words<W>* met, Control* control, double* sums,
             int* trouble) {
    const int warp = (blockIdx.x * THREADS + threadIdx.x) / 32, warps = gridDim.x * (THREADS / 32);
    const Batch<Offset, W> b{{out_indptr, out_indices}, {in_indptr, in_indices}, n, k, sources, targets, endpoints,
                             seen, fronts, rows, vertices, masks, capacity, listed, list, hubs, parts, met, control,
                             sums, trouble, static_cast<int>(threadIdx.x % 32), warp, warps};
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    const Index m = out_indptr[n];
    unsigned stages = 0, before = 0, begin = 0, end;
    Stage* stage = b.stage(stages++);
    plant(b, stage);
    end = stage->found;
    int levels = 1;
    if (first) control->starts[0] = 0, control->starts[1] = end;
    while (levels <= limit) {
        const bool sparse = stage->edges * SPARSE < m;
        unsigned count = n;
        if (sparse) {
            stage = b.stage(stages++);
            count = push(b, levels - 1, before, begin, end, stage);
        }
        stage = b.stage(stages++);
        find(b, levels, sparse ? list : nullptr, count, end, stage);
        const unsigned found = stage->found;
        if (!found) break;
        if (found > capacity - end || levels == DEEP) {
            if (first) control->full = 1;
            return;
        }
        before = begin, begin = end, end += found;
        ++levels;
        if (first) control->starts[levels] = end;
    }
    for (int level = levels - 1; level >= 0; --level) {
        if (level + 2 < levels) clear(b, level, control->starts[level + 2], control->starts[level + 3]);
        grid_barrier(&control->arrived);
        stage = b.stage(stages++);
        depend<EDGES>(b, level, level + 1 == levels, control->starts[level], control->starts[level + 1], stage);
    }
}
