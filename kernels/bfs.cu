// Breadth-first search by levels. Each level pushes or pulls, by the size of its frontier.
//
// Algorithm. A push expands a thin frontier from its queue: it follows every edge out of the frontier, and the thread
// that first sets a target's visited bit appends the target (Luo, Wong and Hwu 2010; Merrill, Garland and Grimshaw
// 2012). A pull serves a wide frontier: every unvisited vertex looks for an in-neighbour in the frontier and stops at
// the first (Beamer, Asanovic and Patterson 2012). It looks first at its head, the in-neighbour with most edges. The
// head is the likeliest to be in the frontier, the heads of neighbouring vertices are read side by side, and the few
// vertices that are the head of many stay in the nearest cache.
//
// All levels run in one cooperative launch. A frontier that one block can handle stays in its shared memory, where a
// level costs a few memory latencies. A wider one takes all blocks and a grid-wide barrier a level. The host reads
// nothing between levels. In either direction a warp takes at most one piece of a hub's row; all warps take the rest
// in a phase of its own (hubs.cuh).
//
// Encoding. A shard owns the vertices [lo, hi), lo a multiple of 32, and the edges into them: by target (in_*, row v -
// lo) and by source (out_*, row u, only targets in the range). Shards exchange frontiers only. `frontier` is a bitmap
// of all n vertices. A launch starts from it, or, if `listed`, from the shards' lists (never if it only pulls). It
// leaves the new frontier in the shard's own words of the bitmap, and in its list if the level was pushed and the list
// has room. A list has `length` words. The first word counts the vertices behind it; the value `length` means that
// they are not there. `visited` and `next` are bitmaps of the shard's own vertices. `distance` has all n vertices, of
// which the shard writes its own. A vertex enters `queue` at most once a launch. `heads` may be null.
//
// With `Several` the shards are GPUs of a host that run all levels in one launch each (peers.cuh). After a level a GPU
// sends the others what it found: its list, if it has pushed and found few, otherwise its part of the bitmap. Each GPU
// decides for itself whether to push or pull and whether one block does. The whole frontier is in `frontier` before and
// after the launch; `listed` does not occur.
//
// `quads` may be null. It is for graphs with few neighbours everywhere, such as roads, and holds each row in 16 bytes,
// side by side, so that a thin level reads one word a vertex instead of six. With it goes a history of the vertices
// last seen, as in Merrill et al.: the requests that one multiprocessor can have in flight bound such a level.
//
// Cost. n + m operations in all when pushing; a pull reads few of the edges of a wide level. Random reads of bitmaps
// (L2) bound wide graphs, the latency of a level bounds long ones.
//
// Predecessors. With `Tree` the search writes them itself, to `parent`, which has the shard's own vertices: the vertex
// of the frontier from which each one was met first. That depends on the order of the threads, so that it may differ
// from run to run. Otherwise they are found afterwards from the distances (bfs_predecessors.cuh): the least
// in-neighbour one level up, the same for every method and any number of shards.
//
// Races. Exactly one thread writes the distance and the parent of a vertex, once: in a push and in a piece of a hub's
// row the one that finds the visited bit unset when it sets it, otherwise in a pull the vertex's own lane. The frontier
// does not change during a level, so that every candidate is one level up.

#include "warp.cuh"
#include "bitmap.cuh"
#include "grid.cuh"
#include "peers.cuh"
#include "hubs.cuh"
#include "neighbours.cuh"
#include "bfs_push.cuh"
#include "bfs_predecessors.cuh"

constexpr int THREADS = 1024, WARPS = THREADS / 32;
constexpr int THIN_EDGES = 16384;  // edges out of a frontier that one block handles
constexpr int PULL_SHARE = 20;     // pull if the frontier has more than 1/20 of the edges, or
constexpr int PULL_COUNT = 24;     // more than 1/24 of the vertices
constexpr int HISTORY = WARPS * 64;
constexpr int PARTS = 29;          // bits of a vertex in a word of quads; above them, its rows there beyond one
constexpr int VERTEX = (1 << PARTS) - 1;

enum Method { HYBRID = 0, PUSH = 1, PULL = 2 };

// How far the exchange of a level has come: the others' part is in the frontier, the own one was sent only, or nothing
// was; or another GPU has not come to it.
enum Exchange { MERGED = 0, SENT = 1, UNSENT = 2, LOST = 3 };

// What the blocks exchange in a phase, the time between two grid-wide barriers.
struct Phase {
    int count;                 // vertices found, or counted
    int level;                 // reached by the one block of a thin stretch,
    int tail;                  // the end of the queue then,
    int exchange;              // and how far the exchange of that level has come; LOST of any exchange
    unsigned long long edges;  // out-degrees of the vertices found
    unsigned long long hubs;   // hubs put off, and in the lower half their pieces
};

// Three records in turn: one is read, one written, one cleared. The host reads the level: if fewer levels ran than
// requested, the frontier is empty.
struct Control {
    unsigned arrived;
    int phase;
    int level;  // of the vertices in the frontier
    int lost;   // whether another GPU did not come to an exchange
    int unused[4];
    Phase phases[3];
};

// The word of a vertex in quads.
__device__ __forceinline__ int with_parts(int v, int degree) { return v | (degree > 4 ? degree / 4 : 0) << PARTS; }

// The most entries of a list that a GPU sends another: a fourth of the size of the bitmap, but no less than one block
// handles and no more than there is memory for.
__device__ __forceinline__ int list_room(int words) { return max(2048, min(words / 8, PEERS_LIST)); }

// Run up to `limit` levels. A cooperative launch: all blocks are resident. With `Several`, shard s is of the vertices
// [ranges[s], ranges[s + 1]), and `table` is where the GPUs' spaces are.
template <typename Offset, bool Tree, bool Several>
__global__ void __launch_bounds__(THREADS, 1)
    levels(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices,
           const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, const int* __restrict__ heads,
           const int4* __restrict__ quads, int n, int lo, int hi, int* distance, int* parent, unsigned* visited,
           unsigned* frontier, unsigned* next, int* queue, Hub* hubs, int* lists, Control* control, int limit,
           int method, int shards, int length, int shard, bool listed, const Peers* table, const int* ranges) {
    constexpr int THIN = sizeof(Offset) == 8 ? 1024 : 2048;  // vertices of a frontier that one block handles
    __shared__ int staged[WARPS][64];
    __shared__ Offset thin_begin[2][THIN];
    __shared__ Offset thin_end[2][THIN];
    __shared__ int thin_count[3], thin_edges[3], thin_longs[3], thin_hubs[3], block_count;
    __shared__ unsigned long long block_edges;

    static_assert(sizeof(staged) >= THIN * sizeof(int));
    int* const thin_long = staged[0];  // a phase uses one or the other; hubs stand at the end,
    int* const history = staged[0];    // or this: vertices looked up lately, which need not be looked up again

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int thread = blockIdx.x * THREADS + threadIdx.x, threads = gridDim.x * THREADS;
    const int global_warp = thread / 32, global_warps = threads / 32;
    const int words = (n + 31) / 32, own_words = (hi - lo + 31) / 32;
    const Search<Offset, Tree> search{out_indptr, out_indices, distance, parent, visited, queue, lo};

    unsigned* const own_frontier = frontier + lo / 32;
    const bool whole = !Several && own_words == words;
    bool turned = false;  // after a pull the two bitmaps change places
    auto current = [&]() { return turned ? next : frontier; };  // the frontier's, if it is up to date
    bool have_bitmap = !listed, have_queue = false;
    int tail = 0, level = control->level, phase = control->phase;
    const int stop = limit < 0x7fffffff - level ? level + limit : 0x7fffffff;
    int count = 0;  // vertices of the frontier: the last ones of the queue, if there is a queue
    unsigned long long edges = 0;

    auto record = [&]() { return control->phases + phase % 3; };
    auto begin_phase = [&]() {
        if (thread == 0) control->phases[(phase + 1) % 3] = Phase{};
        if (threadIdx.x == 0) block_count = 0, block_edges = 0;
        __syncthreads();
    };
    auto end_phase = [&]() {  // what all blocks did in this phase
        grid_barrier(&control->arrived);
        Phase result = *record();
        ++phase;
        return result;
    };
    auto add_block_edges = [&]() {
        __syncthreads();
        if (threadIdx.x == 0 && block_edges) atomicAdd(&record()->edges, block_edges);
    };

    auto count_frontier = [&]() {
        begin_phase();
        int mine = 0;
        for (int w = thread; w < words; w += threads) mine += __popc(frontier[w]);
        mine = __reduce_add_sync(ALL, mine);
        if (lane == 0 && mine) atomicAdd(&block_count, mine);
        __syncthreads();
        if (threadIdx.x == 0 && block_count) atomicAdd(&record()->count, block_count);
        count = end_phase().count;
    };

    // The exchange among several GPUs: of lists, or of whole bitmaps, which have no numbers.
    __shared__ Peers peers;
    __shared__ unsigned mails[MOST_PEERS][1];  // the words of the last mails; the own one, too
    unsigned* const start_frontier = frontier;
    const int room = list_room(words);  // entries of a list
    unsigned number = 0;                // of the last exchange
    bool first_wait = true, lost = false;
    if constexpr (Several) number = open_peers(table, peers);
    auto bitmap_of = [&](int of) { return peers.data(of, number, (words + 3) / 4 * 4); };
    // Wait for the others' mails, by all threads of a block; return whether they came.
    auto wait = [&](unsigned own) {
        if (threadIdx.x == 0) mails[peers.rank][0] = own;
        const bool came = get_mails(peers, number, first_wait, mails);
        first_wait = false;
        return came;
    };
    // Each of the others' lists, in turn: call `take` with the place of a vertex among all that came, and the vertex,
    // or -1, by all lanes of a warp. Return whether all came.
    auto each_listed = [&](int begin, int stride, auto take) {
        bool came = true;
        for (int gpu = 0, before = 0; gpu < peers.size; ++gpu) {
            if (gpu == peers.rank || mails[gpu][0] & UNNUMBERED) continue;
            const int there = mails[gpu][0];
            const unsigned long long* const list = peers.list(peers.rank, gpu, number);
            for (int base = begin; base < there; base += stride) {
                unsigned v = 0;
                const bool has = base + lane < there;
                if (has) came = came && get_numbered(peers, list + base + lane, number, peers.patience, v);
                take(before + base + lane, has && came ? static_cast<int>(v) : -1);
            }
            before += there;
        }
        return came;
    };
    auto found_by_all = [&]() {
        int all = 0;
        for (int gpu = 0; gpu < peers.size; ++gpu) all += mails[gpu][0] & ~UNNUMBERED;
        return all;
    };
    // The rest of an exchange, by all blocks: send the own part, if that has not happened, and get those of the others.
    auto exchange = [&](int done) {
        unsigned own = count | (have_bitmap || count > room ? UNNUMBERED : 0);
        if (done == UNSENT) {
            ++number;
            if (!(own & UNNUMBERED)) {
                for (int i = thread; i < count; i += threads)
                    for (int gpu = 0; gpu < peers.size; ++gpu)
                        if (gpu != peers.rank)
                            put_numbered(peers.list(gpu, peers.rank, number) + i, number, queue[tail - count + i]);
            } else {
                if (!have_bitmap) {
                    for (int w = thread; w < own_words; w += threads) next[w] = 0;
                    grid_barrier(&control->arrived);
                    for (int q = tail - count + thread; q < tail; q += threads) set_bit(next, queue[q] - lo);
                    grid_barrier(&control->arrived);
                }
                for (int w = thread; w < own_words; w += threads) {
                    const unsigned found = __ldcg(next + w);
                    for (int gpu = 0; gpu < peers.size; ++gpu) bitmap_of(gpu)[lo / 32 + w] = found;
                }
                grid_barrier(&control->arrived);
            }
            if (blockIdx.x == 0 && threadIdx.x < 32) send_mail(peers, number, own);
        }
        // A block may have waited in vain, and the others not. So all go by the record of the phase.
        const bool mailed = wait(own);
        unsigned as_bitmap = 0;
        for (int gpu = 0; gpu < peers.size; ++gpu) as_bitmap |= mails[gpu][0] & UNNUMBERED;
        unsigned* const bitmap = bitmap_of(peers.rank);
        begin_phase();
        if (!mailed) {
            record()->exchange = LOST;
        } else if (!as_bitmap) {
            Appender<Offset> append{out_indptr, staged[warp], queue + tail, &record()->count};
            const auto take = [&](int, int v) { append.add(v >= 0, max(v, 0)); };
            if (!each_listed(global_warp * 32, global_warps * 32, take)) record()->exchange = LOST;
            append.finish(&block_edges);
            add_block_edges();
        } else {  // the whole bitmap, in which lists are missing
            for (int gpu = 0; gpu < peers.size; ++gpu) {
                if (mails[gpu][0] & UNNUMBERED || ranges[gpu] == ranges[gpu + 1]) continue;
                const int begin = ranges[gpu] / 32, end = (ranges[gpu + 1] + 31) / 32;
                for (int w = begin + thread; w < end; w += threads) bitmap[w] = 0;
            }
        }
        Phase came = end_phase();
        if (as_bitmap && came.exchange != LOST) {
            begin_phase();
            if (!(own & UNNUMBERED))
                for (int q = tail - count + thread; q < tail; q += threads) set_bit(bitmap, queue[q]);
            const auto take = [&](int, int v) { if (v >= 0) set_bit(bitmap, v); };
            if (!each_listed(global_warp * 32, global_warps * 32, take)) record()->exchange = LOST;
            came = end_phase();
        }
        turned = false;
        lost = came.exchange == LOST;
        if (lost) return;
        have_bitmap = as_bitmap;
        have_queue = !as_bitmap;
        if (have_queue) {
            tail += came.count;
            edges += came.edges;
            count += came.count;
            frontier = start_frontier;
        } else {
            count = found_by_all();
            frontier = bitmap;
            tail = 0;
            edges = 0;
        }
    };

    if (listed) {
        for (int s = 0; s < shards; ++s) count += lists[s * length];
    } else {
        count_frontier();
    }

    while (level < stop && count > 0 && !(Several && lost)) {
        auto heavy = [&]() { return edges > static_cast<unsigned long long>(out_indptr[n]) / PULL_SHARE; };
        int done = UNSENT;
        bool pull = method == PULL;
        if (method == HYBRID) pull = have_queue ? heavy() : have_bitmap && count > n / PULL_COUNT;
        if (!pull && !have_queue) {  // a queue from the bitmap or the lists
            begin_phase();
            Appender<Offset> append{out_indptr, staged[warp], queue + tail, &record()->count};
            for (int s = 0; s < shards && !have_bitmap; ++s) {
                const int* const list = lists + s * length;
                for (int base = global_warp * 32 + 1; base <= list[0]; base += global_warps * 32) {
                    const bool has = base + lane <= list[0];
                    append.add(has, has ? list[base + lane] : 0);
                }
            }
            for (int base = global_warp * 32; base < words && have_bitmap; base += global_warps * 32) {
                unsigned bits = base + lane < words ? current()[base + lane] : 0;
                while (__any_sync(ALL, bits != 0)) {
                    const bool has = bits != 0;
                    append.add(has, (base + lane) * 32 + (has ? __ffs(bits) - 1 : 0));
                    bits &= bits - 1;
                }
            }
            append.finish(&block_edges);
            add_block_edges();
            Phase built = end_phase();
            tail += built.count;
            edges = built.edges;
            have_queue = true;
            pull = method == HYBRID && heavy();
        }
        if (pull && !have_bitmap) {  // a bitmap from the queue, which began with lists or holds all vertices
            begin_phase();
            for (int w = thread; w < words; w += threads) current()[w] = 0;
            end_phase();
            begin_phase();
            for (int q = tail - count + thread; q < tail; q += threads)
                set_bit(current(), queue[q]);
            end_phase();
            have_bitmap = true;
        }

        if (pull) {
            begin_phase();
            unsigned* const other = turned ? frontier : next;
            int mine = 0;
            for (int w = global_warp; w < own_words; w += global_warps) {
                const unsigned known = visited[w];
                const int v = lo + w * 32 + lane;
                const InBitmap in_frontier{current()};
                bool open = v < hi && !(known >> lane & 1u);
                unsigned found = 0;
                int u = -1;  // the in-neighbour in the frontier
                if (heads && __any_sync(ALL, open)) {
                    u = open ? heads[v - lo] : -1;
                    found = __ballot_sync(ALL, u >= 0 && in_frontier(u));
                    open = u >= 0 && !(found >> lane & 1u);
                }
                if (__any_sync(ALL, open)) {
                    Offset begin = 0, end = 0;
                    if (open) begin = in_indptr[v - lo], end = in_indptr[v - lo + 1];
                    const int first = first_match(in_indices, begin, end, in_frontier);
                    if (first < 0 && end - begin > HUB) put_off(hubs, &record()->hubs, v - lo, end - begin - HUB);
                    found |= __ballot_sync(ALL, first >= 0);
                    if (first >= 0) u = first;
                }
                if (found >> lane & 1u) distance[v] = level + 1, search.set_parent(v, u);
                if (lane == 0) {
                    other[w] = found;
                    if (found) visited[w] = known | found;
                    mine += __popc(found);
                }
            }
            if (lane == 0 && mine) atomicAdd(&block_count, mine);
            __syncthreads();
            if (threadIdx.x == 0 && block_count) atomicAdd(&record()->count, block_count);
            const Phase pulled = end_phase();
            count = pulled.count;
            if (pulled.hubs) {
                begin_phase();
                const InBitmap in_frontier{current()};
                const auto look = [&](int row, Offset begin, Offset end) {
                    const unsigned bit = 1u << (row % 32);
                    // Other warps may set that bit meanwhile: all lanes follow what any lane sees.
                    if (__any_sync(ALL, __ldcg(visited + row / 32) & bit)) return;
                    const int u = first_of_all(in_indices, begin, end, in_frontier);
                    if (u < 0 || lane || atomicOr(visited + row / 32, bit) & bit) return;
                    atomicOr(other + row / 32, bit);
                    distance[lo + row] = level + 1;
                    search.set_parent(lo + row, u);
                    atomicAdd(&record()->count, 1);
                };
                each_piece(hubs, pulled.hubs, in_indptr, HUB, global_warp, global_warps, look);
                count += end_phase().count;
            }
            turned = !turned;
            have_bitmap = true;
            have_queue = false;
            ++level;
        } else if (count <= THIN && edges <= THIN_EDGES) {  // one block, as long as the frontier stays thin
            begin_phase();
            if (blockIdx.x == 0) {
                // With quads: the vertices' words, and separately the words of the rest of long rows, for other lanes.
                int coming_edges = static_cast<int>(edges);
                auto put_rest = [&](int word, int to, int slot) {
                    const int parts = word >> PARTS;
                    if (!parts) return;
                    const int at = atomicAdd(&thin_edges[slot], parts);
                    for (int i = 0; i < parts && at + i < THIN; ++i)
                        thin_end[to][at + i] = (word & VERTEX) | (i + 1) << PARTS;
                };
                if (threadIdx.x < 3) thin_count[threadIdx.x] = thin_edges[threadIdx.x] = 0;
                if (threadIdx.x < 3) thin_longs[threadIdx.x] = thin_hubs[threadIdx.x] = 0;
                __syncthreads();
                for (int q = threadIdx.x; q < count; q += THREADS) {
                    const int v = queue[tail - count + q];
                    const Offset begin = out_indptr[v], end = out_indptr[v + 1];
                    if (quads) {
                        const int word = with_parts(v, static_cast<int>(end - begin));
                        thin_begin[level % 2][q] = word;
                        put_rest(word, level % 2, (level + 2) % 3);
                    } else {
                        thin_begin[level % 2][q] = begin;
                        thin_end[level % 2][q] = end;
                    }
                }
                __syncthreads();
                if (quads) {
                    coming_edges = thin_edges[(level + 2) % 3];
                    for (int i = threadIdx.x; i < HISTORY; i += THREADS) history[i] = -1;
                    __syncthreads();
                }
                if constexpr (Several) done = MERGED;
                while (level < stop && count > 0 && count <= THIN && coming_edges <= (quads ? THIN : THIN_EDGES)) {
                    const int from = level % 2, to = from ^ 1, slot = level % 3;
                    const int* const thin_queue = queue + tail - count;  // the frontier, if there are no quads
                    if (threadIdx.x == 0) {
                        const int coming = (level + 1) % 3;
                        thin_count[coming] = thin_edges[coming] = thin_longs[coming] = thin_hubs[coming] = 0;
                    }
                    // Lanes of a warp look at some neighbours of u each, stage by stage, so that latencies overlap.
                    // One lane adds to the counters for all: the lanes would otherwise wait for one another there.
                    constexpr int WIDTH = sizeof(Offset) == 8 ? 2 : 4;
                    auto claim = [&](int u, const int (&v)[WIDTH], bool with_rows) {
                        unsigned won[WIDTH];
#pragma unroll
                        for (int i = 0; i < WIDTH; ++i) {
                            won[i] = ALL;
                            bool asks = v[i] >= 0;
                            if (asks && !with_rows) asks = atomicExch(history + v[i] % HISTORY, v[i]) != v[i];
                            if (asks) won[i] = search.mark(with_rows ? v[i] : v[i] & VERTEX);
                        }
                        int found = 0;
#pragma unroll
                        for (int i = 0; i < WIDTH; ++i) {
                            won[i] = __ballot_sync(ALL, !(won[i] & search.bit(v[i])));
                            found += __popc(won[i]);
                        }
                        if (!found) return;
#pragma unroll
                        for (int i = 0; i < WIDTH; ++i)  // not in the loop below, for registers
                            if (won[i] >> lane & 1u) search.set_parent(with_rows ? v[i] : v[i] & VERTEX, u);
                        Offset first[WIDTH], last[WIDTH];
#pragma unroll
                        for (int i = 0; i < WIDTH; ++i)
                            if (with_rows && won[i] >> lane & 1u)
                                first[i] = out_indptr[v[i]], last[i] = out_indptr[v[i] + 1];
                        int at = 0, degrees = 0;
                        if (lane == 0) at = atomicAdd(&thin_count[slot], found);
                        at = __shfl_sync(ALL, at, 0);
#pragma unroll
                        for (int i = 0; i < WIDTH; ++i) {
                            const int place = at + __popc(won[i] & ((1u << lane) - 1));
                            at += __popc(won[i]);
                            if (!(won[i] >> lane & 1u)) continue;
                            const int own = with_rows ? v[i] : v[i] & VERTEX;
                            distance[own] = level + 1;
                            if (with_rows || place >= THIN) queue[tail + place] = own;
                            if (!with_rows) {
                                if (place < THIN) thin_begin[to][place] = v[i];
                                put_rest(v[i], to, slot);
                                continue;
                            }
                            const Offset degree = last[i] - first[i];
                            if (place < THIN) thin_begin[to][place] = first[i], thin_end[to][place] = last[i];
                            degrees += degree <= THIN_EDGES ? static_cast<int>(degree) : THIN_EDGES + 1;
                        }
                        if (!with_rows) return;
                        degrees = __reduce_add_sync(ALL, min(degrees, THIN_EDGES + 1));
                        if (lane == 0) atomicAdd(&thin_edges[slot], degrees);
                    };
                    auto follow = [&](int u, Offset e, Offset end, Offset stride) {
                        for (; __any_sync(ALL, e < end); e += WIDTH * stride) {
                            int v[WIDTH];
#pragma unroll
                            for (int i = 0; i < WIDTH; ++i) {
                                const Offset at = e + i * stride;
                                v[i] = at < end ? out_indices[at] : -1;
                            }
                            claim(u, v, true);
                        }
                    };
                    if constexpr (sizeof(Offset) == 4) {
                        const int firsts = (count + 31) / 32, rests = (coming_edges + 31) / 32;
                        for (int c = warp; quads && c < firsts + rests; c += WARPS) {
                            const int q = (c < firsts ? c : c - firsts) * 32 + lane;
                            int4 row = make_int4(-1, -1, -1, -1);
                            int own = 0;
                            if (c < firsts && q < count) {
                                own = thin_begin[from][q];
                                row = quads[own & VERTEX];
                                if (own >> PARTS) row.w = -1;
                            } else if (c >= firsts && q < coming_edges) {
                                own = thin_end[from][q];
                                row = quads[n + quads[own & VERTEX].w + (own >> PARTS) - 1];
                            }
                            const int v[4] = {row.x, row.y, row.z, row.w};
                            claim(own & VERTEX, v, false);
                        }
                    }
                    for (int base = warp * 32; !quads && base < count; base += THREADS) {
                        Offset begin = 0, end = 0;
                        const int q = base + lane;
                        const int u = Tree && q < count ? thin_queue[q] : 0;
                        if (q < count) begin = thin_begin[from][q], end = thin_end[from][q];
                        if (end - begin > SERIAL) {
                            const int at = end - begin < HUB ? atomicAdd(&thin_longs[slot], 1)
                                                             : THIN - 1 - atomicAdd(&thin_hubs[slot], 1);
                            thin_long[at] = q;
                            end = begin;
                        }
                        follow(u, begin, end, 1);
                    }
                    __syncthreads();
                    const int longs = thin_longs[slot], wide = thin_hubs[slot];
                    for (int l = warp; l < longs; l += WARPS) {
                        const int q = thin_long[l];
                        follow(thin_queue[q], thin_begin[from][q] + lane, thin_end[from][q], 32);
                    }
                    for (int l = THIN - wide; l < THIN; ++l) {
                        const int q = thin_long[l];
                        follow(thin_queue[q], thin_begin[from][q] + threadIdx.x, thin_end[from][q], THREADS);
                    }
                    if (longs || wide) __syncthreads();
                    count = thin_count[slot];
                    coming_edges = thin_edges[slot];
                    tail += count;
                    ++level;
                    if constexpr (Several) {
                        done = UNSENT;
                        if (count > THIN) break;
                        done = SENT;
                        ++number;
                        auto own = [&](int q) {
                            return quads ? static_cast<int>(thin_begin[to][q]) & VERTEX : queue[tail - count + q];
                        };
                        for (int q = threadIdx.x; q < count; q += THREADS)
                            for (int gpu = 0; gpu < peers.size; ++gpu)
                                if (gpu != peers.rank)
                                    put_numbered(peers.list(gpu, peers.rank, number) + q, number, own(q));
                        if (warp == 0) send_mail(peers, number, count);
                        if (!wait(count)) {
                            done = LOST;
                            break;
                        }
                        unsigned as_bitmap = 0;
                        for (int gpu = 0; gpu < peers.size; ++gpu) as_bitmap |= mails[gpu][0] & UNNUMBERED;
                        const int all = found_by_all();
                        if (as_bitmap || all > THIN) break;
                        const bool came = each_listed(warp * 32, THREADS, [&](int i, int v) {
                            int degree = 0;
                            if (v >= 0) {
                                const Offset begin = out_indptr[v], end = out_indptr[v + 1];
                                const int place = count + i;
                                degree = end - begin <= THIN_EDGES ? static_cast<int>(end - begin) : THIN_EDGES + 1;
                                if (quads) {
                                    const int word = with_parts(v, degree);
                                    thin_begin[to][place] = word;
                                    put_rest(word, to, slot);
                                } else {
                                    thin_begin[to][place] = begin, thin_end[to][place] = end;
                                    queue[tail + place - count] = v;
                                }
                            }
                            degree = quads ? 0 : __reduce_add_sync(ALL, min(degree, THIN_EDGES + 1));
                            if (lane == 0 && degree) atomicAdd(&thin_edges[slot], degree);
                        });
                        done = MERGED;
                        if (__syncthreads_or(!came)) {
                            done = LOST;
                            break;
                        }
                        tail += all - count;
                        count = all;
                        coming_edges = thin_edges[slot];
                    }
                }
                for (int q = threadIdx.x; quads && q < min(count, THIN); q += THREADS)
                    queue[tail - count + q] = static_cast<int>(thin_begin[level % 2][q]) & VERTEX;
                if (threadIdx.x == 0) {
                    Phase* result = record();
                    result->count = count;
                    result->edges = !quads ? coming_edges : coming_edges > THIN ? THIN_EDGES + 1 : 4 * count;  // about
                    result->level = level;
                    result->tail = tail;
                    if constexpr (Several) result->exchange = done;
                }
            }
            const Phase ran = end_phase();
            count = ran.count;
            edges = ran.edges;
            if constexpr (Several) {
                done = ran.exchange;
                if (blockIdx.x != 0) {
                    const unsigned made = ran.level - level - (done == UNSENT);
                    if (made) first_wait = false;
                    number += made;
                }
                lost = done == LOST;
                frontier = start_frontier;  // no other GPU writes there
            }
            level = ran.level;
            tail = ran.tail;
            have_bitmap = false;
        } else {  // push with all blocks: a thread, a warp or a block to a vertex, by its degree
            begin_phase();
            Appender<Offset> append{out_indptr, staged[warp], queue + tail, &record()->count};
            const int take = min(32, (count + global_warps - 1) / global_warps);
            for (int base = tail - count + global_warp * take; base < tail; base += global_warps * take) {
                Offset begin = 0, end = 0;
                if (lane < take && base + lane < tail) {
                    const int u = queue[base + lane];
                    begin = out_indptr[u], end = out_indptr[u + 1];
                    if (end - begin >= HUB) {
                        put_off(hubs, &record()->hubs, u, end - begin);
                        end = begin;
                    }
                }
                for (unsigned wide = __ballot_sync(ALL, end - begin >= 32); wide; wide &= wide - 1) {
                    const int owner = __ffs(wide) - 1;
                    const Offset start = __shfl_sync(ALL, begin, owner);
                    follow_wide(search, queue[base + owner], start, __shfl_sync(ALL, end, owner), level + 1, append);
                }
                // The short lists end to end: lane l takes edges l, l + 32, ... of them all.
                const int degree = end - begin < 32 ? static_cast<int>(end - begin) : 0;
                int after = degree;
                for (int step = 1; step < 32; step *= 2) {
                    int left = __shfl_up_sync(ALL, after, step);
                    if (lane >= step) after += left;
                }
                const int total = __shfl_sync(ALL, after, 31);
                for (int first = 0; first < total; first += 32) {
                    const int want = first + lane;
                    int owner = 0;  // the first lane whose lists end behind `want`
#pragma unroll
                    for (int step = 16; step; step /= 2)
                        if (__shfl_sync(ALL, after, owner + step - 1) <= want) owner += step;
                    owner &= 31;
                    const Offset start = __shfl_sync(ALL, begin, owner);
                    const int before = __shfl_sync(ALL, after - degree, owner);
                    const bool active = want < total;
                    const int v = active ? out_indices[start + (want - before)] : lo;
                    unsigned known = active ? visited[search.word(v)] : ALL;
                    if (!(known & search.bit(v))) known = search.mark(v);
                    const bool won = !(known & search.bit(v));
                    if (won) distance[v] = level + 1, search.set_parent(v, queue[base + owner]);
                    append.add(won, v);
                }
            }
            append.finish(&block_edges);
            add_block_edges();
            Phase pushed = end_phase();
            count = pushed.count;
            edges = pushed.edges;
            if (pushed.hubs) {
                begin_phase();
                Appender<Offset> more{out_indptr, staged[warp], queue + tail + count, &record()->count};
                const auto follow = [&](int u, Offset begin, Offset end) {
                    follow_wide(search, u, begin, end, level + 1, more);
                };
                each_piece(hubs, pushed.hubs, out_indptr, 0, global_warp, global_warps, follow);
                more.finish(&block_edges);
                add_block_edges();
                Phase rest = end_phase();
                count += rest.count;
                edges += rest.edges;
            }
            tail += count;
            have_bitmap = false;
            ++level;
        }
        if constexpr (Several) {
            if (done != MERGED && !lost) exchange(done);
            continue;
        }
        if (!whole) break;  // the others' part of the frontier must come first
    }

    if constexpr (Several) {
        if (!have_bitmap) {
            for (int w = thread; w < words; w += threads) start_frontier[w] = 0;
            grid_barrier(&control->arrived);
            for (int q = tail - count + thread; q < tail; q += threads) set_bit(start_frontier, queue[q]);
        } else if (frontier != start_frontier) {
            for (int w = thread; w < words; w += threads) start_frontier[w] = frontier[w];
        }
        if (thread == 0) {
            control->level = level;
            control->phase = phase;
            control->lost = lost;
            close_peers(peers, number);
        }
        return;
    }

    // Leave the new frontier in the shard's own words of `frontier`.
    if (level > control->level) {
        if (have_bitmap) {  // the last level was a pull, its result at `current`, which may be `frontier` itself
            if (current() != own_frontier)
                for (int w = thread; w < own_words; w += threads) own_frontier[w] = current()[w];
        } else {
            begin_phase();
            for (int w = thread; w < own_words; w += threads) own_frontier[w] = 0;
            end_phase();
            for (int q = tail - count + thread; q < tail; q += threads)
                set_bit(frontier, queue[q]);
        }
    }
    begin_phase();
    end_phase();
    const bool fits = count == 0 || (!have_bitmap && count < length);
    if (fits)
        for (int q = thread; q < count; q += threads) lists[shard * length + 1 + q] = queue[tail - count + q];
    if (thread == 0) {
        lists[shard * length] = fits ? count : length;
        control->level = level;
        control->phase = phase;
    }
}

// Set the distance of the sources, and their bits in `frontier` and `visited`.
__global__ void seed(const int* __restrict__ sources, int count, int lo, int hi, int* distance, unsigned* visited,
                     unsigned* frontier) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count) return;
    const int v = sources[s];
    const unsigned bit = 1u << (v % 32);  // lo is a multiple of 32
    atomicOr(frontier + v / 32, bit);
    if (v < lo || v >= hi) return;
    atomicOr(visited + (v - lo) / 32, bit);
    distance[v] = 0;
}

// quads[v] = the words of the neighbours of v, padded with -1, if it has four or fewer. Otherwise the words of the
// first three, and links[v]: the rest stands in quads[n + links[v]] and those after it, four by four.
__global__ void quads(const int* __restrict__ indptr, const int* __restrict__ indices, const int* __restrict__ links,
                      int n, int4* quads) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    const int begin = indptr[v], end = indptr[v + 1];
    auto word = [&](int e) {
        if (e >= end) return -1;
        const int u = indices[e];
        return with_parts(u, indptr[u + 1] - indptr[u]);
    };
    const bool longer = end - begin > 4;
    quads[v] = make_int4(word(begin), word(begin + 1), word(begin + 2), longer ? links[v] : word(begin + 3));
    for (int e = begin + 3, at = n + links[v]; longer && e < end; e += 4, ++at)
        quads[at] = make_int4(word(e), word(e + 1), word(e + 2), word(e + 3));
}

// heads[v - lo] = the in-neighbour of v with most out-edges, the least of several; -1 if there is none. Of a hub, only
// the first HUB in-neighbours are compared.
template <typename Offset>
__global__ void heads(const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
                      const Offset* __restrict__ out_indptr, int rows, int* head) {
    const int own = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    Offset begin = 0, end = 0;
    if (own < rows) begin = in_indptr[own], end = in_indptr[own + 1];
    if (end - begin > HUB) end = begin + HUB;
    // Degree and inverted vertex in one word: the greatest is the head, 0 means none.
    auto rank = [&](int u) {
        const Offset degree = out_indptr[u + 1] - out_indptr[u];
        const unsigned capped = degree < 0xffffffffu ? static_cast<unsigned>(degree) : 0xffffffffu;
        return static_cast<unsigned long long>(capped) << 32 | ~static_cast<unsigned>(u);
    };
    unsigned long long best = 0;
    if (end - begin <= SERIAL)
        for (Offset e = begin; e < end; ++e) best = max(best, rank(in_indices[e]));
    for (unsigned left = __ballot_sync(ALL, end - begin > SERIAL); left; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const Offset stop = __shfl_sync(ALL, end, owner);
        unsigned long long own_best = 0;
        for (Offset e = __shfl_sync(ALL, begin, owner) + lane; e < stop; e += 32)
            own_best = max(own_best, rank(in_indices[e]));
        for (int step = 16; step; step /= 2) own_best = max(own_best, __shfl_xor_sync(ALL, own_best, step));
        if (lane == owner) best = own_best;
    }
    if (own < rows) head[own] = best ? static_cast<int>(~static_cast<unsigned>(best)) : -1;
}
