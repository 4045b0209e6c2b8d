// Breadth-first search by levels, pushing or pulling as the frontier demands.
//
// Algorithm. A thin frontier is expanded from its queue: every edge out of it is followed, and whoever first
// sets a target's visited bit appends it (Luo, Wong and Hwu 2010; Merrill, Garland and Grimshaw 2012). A wide
// one is met from the other side: every unvisited vertex looks among its in-neighbours for one in the
// frontier and stops at the first (Beamer, Asanovic and Patterson 2012). All levels run inside one
// cooperative launch: a frontier that one thread block can handle stays in its shared memory, where a level
// costs a few memory latencies, wider ones take all blocks and a grid-wide barrier a level. Nothing is read
// back by the host in between.
//
// Encoding. A shard owns the vertices [lo, hi), lo a multiple of 32, and the edges into them: by target (in_*,
// row v - lo) and by source (out_*, row u, only targets in the range). Shards exchange nothing but frontiers.
// `frontier` is a bitmap of all n vertices. A launch starts from it, or, if `listed`, from the shards' lists
// (never if it is only to pull). It leaves the new frontier in the shard's own words of the bitmap, and in its
// list if that has room and the level was pushed. A list has `length` words, the first of which counts the
// vertices behind it; `length` itself says that they are not there. `visited` and `next` are bitmaps of the
// shard's own vertices, `distance` has all n vertices, of which the shard writes its own. A vertex enters
// `queue` at most once a launch.
//
// Cost. n + m operations in all with pushing; pulling touches few of the edges of a wide level. Bound by
// random reads of bitmaps (L2) where the graph is wide, by the latency of a level where it is long.
//
// Predecessors are found afterwards from the distances, as the least in-neighbour one level up: the same for
// every method and any number of shards.

constexpr int THREADS = 1024, WARPS = THREADS / 32;
constexpr int THIN_EDGES = 16384;  // edges out of a frontier that one block handles
constexpr int SERIAL = 16;         // edges that a thread looks at alone before others help
constexpr int HUB = 2048;          // edges from which on a whole block pushes for one vertex
constexpr int PULL_SHARE = 20;     // pull if the frontier has more than 1/20 of the edges, or
constexpr int PULL_COUNT = 24;     // more than 1/24 of the vertices
constexpr unsigned ALL = 0xffffffffu;

enum Method { HYBRID = 0, PUSH = 1, PULL = 2 };

// What the blocks tell one another in a phase, the time between two grid-wide barriers.
struct Phase {
    int count;                 // vertices found, or counted
    int hubs;                  // hubs put off
    int levels;                // levels run by the one block of a thin stretch
    int appended;              // and what it appended to the queue
    unsigned long long edges;  // out-degrees of the vertices found
};

// Three records in turn: one is read, one written, one cleared. The host reads the level: where fewer levels
// ran than were asked for, the frontier is empty.
struct Control {
    unsigned arrived;
    int phase;
    int level;  // of the vertices in the frontier
    int unused[5];
    Phase phases[3];
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

// For each lane, the first of its neighbours indices[begin..end) that `matches`, or -1. All lanes of a warp
// call it together: each looks at a few alone, then the warp takes the long lists one by one.
template <typename Offset, typename Matches>
__device__ __forceinline__ int first_match(const int* __restrict__ indices, Offset begin, Offset end, Matches matches) {
    const int lane = threadIdx.x % 32;
    int found = -1;
    Offset alone = end - begin > SERIAL ? begin + SERIAL : end;
    for (Offset e = begin; e < alone; ++e) {
        int u = indices[e];
        if (matches(u)) {
            found = u;
            break;
        }
    }
    for (unsigned left = __ballot_sync(ALL, found < 0 && alone < end); left; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const Matches theirs = matches.of(owner);
        const Offset stop = __shfl_sync(ALL, end, owner);
        for (Offset base = __shfl_sync(ALL, alone, owner); base < stop; base += 32) {
            const int u = base + lane < stop ? indices[base + lane] : -1;
            const unsigned hits = __ballot_sync(ALL, u >= 0 && theirs(u));
            if (hits) {
                const int first = __shfl_sync(ALL, u, __ffs(hits) - 1);
                if (lane == owner) found = first;
                break;
            }
        }
    }
    return found;
}

struct InBitmap {
    const unsigned* bits;
    __device__ bool operator()(int u) const { return bits[u / 32] >> (u % 32) & 1u; }
    __device__ InBitmap of(int) const { return *this; }  // what the lane `owner` looks for
};

struct AtDistance {
    const int* distance;
    int wanted;
    __device__ bool operator()(int u) const { return distance[u] == wanted; }
    __device__ AtDistance of(int owner) const { return {distance, __shfl_sync(ALL, wanted, owner)}; }
};

template <typename Offset> struct Search {
    const Offset* out_indptr;
    const int* out_indices;
    int* distance;
    unsigned* visited;
    int* queue;
    int lo;

    // Mark v as visited; true for the one caller that comes first.
    __device__ __forceinline__ bool mark(int v) const {
        const unsigned bit = 1u << ((v - lo) % 32);
        return !(atomicOr(visited + (v - lo) / 32, bit) & bit);
    }
    // The same, with a look before the atomic, and the distance set.
    __device__ __forceinline__ bool claim(int v, int level) const {
        if (visited[(v - lo) / 32] >> ((v - lo) % 32) & 1u || !mark(v)) return false;
        distance[v] = level;
        return true;
    }
};

// Vertices that a warp found, gathered in shared memory and appended to the queue 32 at a time.
template <typename Offset> struct Appender {
    const Search<Offset>& search;
    int* staged;  // 64 of the warp
    int* target;  // where this phase appends
    int* count;
    int held = 0;
    unsigned long long edges = 0;

    __device__ __forceinline__ void add(bool won, int v) {
        const int lane = threadIdx.x % 32;
        const unsigned winners = __ballot_sync(ALL, won);
        if (!winners) return;
        if (won) staged[held + __popc(winners & ((1u << lane) - 1))] = v;
        held += __popc(winners);
        __syncwarp();
        if (held >= 32) {
            flush(32);
            if (lane < held) staged[lane] = staged[32 + lane];
            __syncwarp();
        }
    }
    __device__ __forceinline__ void flush(int size) {
        const int lane = threadIdx.x % 32;
        int at = 0;
        if (lane == 0) at = atomicAdd(count, size);
        at = __shfl_sync(ALL, at, 0);
        if (lane < size) {
            const int v = staged[lane];
            target[at + lane] = v;
            edges += search.out_indptr[v + 1] - search.out_indptr[v];
        }
        held -= size;
        __syncwarp();
    }
    // Append what is left and add the warp's edges to the block's.
    __device__ __forceinline__ void finish(unsigned long long* block_edges) {
        if (held) flush(held);
        for (int step = 16; step; step /= 2) edges += __shfl_down_sync(ALL, edges, step);
        if (threadIdx.x % 32 == 0 && edges) atomicAdd(block_edges, edges);
    }
};

// Run up to `limit` levels. A cooperative launch: all blocks are resident.
template <typename Offset>
__global__ void __launch_bounds__(THREADS, 1)
    levels(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices,
           const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, int n, int lo, int hi,
           int* distance, unsigned* visited, unsigned* frontier, unsigned* next, int* queue, int* hubs, int* lists,
           Control* control, int limit, int method, int shards, int length, int shard, bool listed) {
    constexpr int THIN = sizeof(Offset) == 8 ? 1024 : 2048;  // vertices of a frontier that one block handles
    __shared__ int staged[WARPS][64];
    __shared__ Offset thin_begin[2][THIN];
    __shared__ Offset thin_end[2][THIN];
    __shared__ int thin_count[3], thin_edges[3], thin_longs[3], block_count;
    __shared__ unsigned long long block_edges;

    static_assert(sizeof(staged) >= THIN * sizeof(int));
    int* const thin_long = staged[0];  // a phase uses one or the other

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int thread = blockIdx.x * THREADS + threadIdx.x, threads = gridDim.x * THREADS;
    const int global_warp = thread / 32, global_warps = threads / 32;
    const int words = (n + 31) / 32, own_words = (hi - lo + 31) / 32;
    const Search<Offset> search{out_indptr, out_indices, distance, visited, queue, lo};

    unsigned* const own_frontier = frontier + lo / 32;
    const bool whole = own_words == words;
    unsigned* current = frontier;  // the bitmap of the frontier, if it is up to date
    unsigned* other = next;        // where a pull writes
    bool have_bitmap = !listed, have_queue = false;
    int head = 0, tail = 0, level = control->level, phase = control->phase, done = 0;
    int count = 0;
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

    if (listed) {
        for (int s = 0; s < shards; ++s) count += lists[s * length];
    } else {  // count the frontier
        begin_phase();
        int mine = 0;
        for (int w = thread; w < words; w += threads) mine += __popc(frontier[w]);
        mine = __reduce_add_sync(ALL, mine);
        if (lane == 0 && mine) atomicAdd(&block_count, mine);
        __syncthreads();
        if (threadIdx.x == 0 && block_count) atomicAdd(&record()->count, block_count);
        count = end_phase().count;
    }

    while (done < limit && count > 0) {
        auto heavy = [&]() { return edges > static_cast<unsigned long long>(out_indptr[n]) / PULL_SHARE; };
        bool pull = method == PULL || (method == HYBRID && (have_queue ? heavy() : count > n / PULL_COUNT));
        if (!pull && !have_queue) {  // a queue from the bitmap or the lists
            begin_phase();
            Appender<Offset> append{search, staged[warp], queue + tail, &record()->count};
            for (int s = 0; s < shards && !have_bitmap; ++s) {
                const int* const list = lists + s * length;
                for (int base = global_warp * 32 + 1; base <= list[0]; base += global_warps * 32) {
                    const bool has = base + lane <= list[0];
                    append.add(has, has ? list[base + lane] : 0);
                }
            }
            for (int base = global_warp * 32; base < words && have_bitmap; base += global_warps * 32) {
                unsigned bits = base + lane < words ? current[base + lane] : 0;
                while (__any_sync(ALL, bits != 0)) {
                    const bool has = bits != 0;
                    append.add(has, (base + lane) * 32 + (has ? __ffs(bits) - 1 : 0));
                    bits &= bits - 1;
                }
            }
            append.finish(&block_edges);
            add_block_edges();
            Phase built = end_phase();
            head = tail;
            tail += built.count;
            edges = built.edges;
            have_queue = true;
            pull = method == HYBRID && heavy();
        }
        if (pull && !have_bitmap) {  // a bitmap from the queue, which began with lists or holds all vertices
            begin_phase();
            for (int w = thread; w < words; w += threads) current[w] = 0;
            end_phase();
            begin_phase();
            for (int q = head + thread; q < tail; q += threads) atomicOr(current + queue[q] / 32, 1u << (queue[q] % 32));
            end_phase();
            have_bitmap = true;
        }

        if (pull) {
            begin_phase();
            int mine = 0;
            for (int w = global_warp; w < own_words; w += global_warps) {
                const unsigned known = visited[w];
                const int v = lo + w * 32 + lane;
                const bool open = v < hi && !(known >> lane & 1u);
                Offset begin = 0, end = 0;
                if (open) begin = in_indptr[v - lo], end = in_indptr[v - lo + 1];
                unsigned found = 0;
                if (__any_sync(ALL, open))
                    found = __ballot_sync(ALL, first_match(in_indices, begin, end, InBitmap{current}) >= 0);
                if (found >> lane & 1u) distance[v] = level + 1;
                if (lane == 0) {
                    other[w] = found;
                    if (found) visited[w] = known | found;
                    mine += __popc(found);
                }
            }
            if (lane == 0 && mine) atomicAdd(&block_count, mine);
            __syncthreads();
            if (threadIdx.x == 0 && block_count) atomicAdd(&record()->count, block_count);
            count = end_phase().count;
            unsigned* turned = current;
            current = other;
            other = turned;
            have_bitmap = true;
            have_queue = false;
            ++level, ++done;
        } else if (count <= THIN && edges <= THIN_EDGES) {  // one block, as long as the frontier stays thin
            begin_phase();
            if (blockIdx.x == 0) {
                int size = count, end_of_queue = tail, ran = 0, from = 0;
                int size_edges = static_cast<int>(edges);
                for (int q = threadIdx.x; q < size; q += THREADS) {
                    const int v = queue[head + q];
                    thin_begin[0][q] = out_indptr[v];
                    thin_end[0][q] = out_indptr[v + 1];
                }
                if (threadIdx.x < 3) thin_count[threadIdx.x] = thin_edges[threadIdx.x] = thin_longs[threadIdx.x] = 0;
                __syncthreads();
                while (done + ran < limit && size > 0 && size <= THIN && size_edges <= THIN_EDGES) {
                    const int to = from ^ 1, slot = ran % 3;
                    if (threadIdx.x == 0) {
                        const int coming = (ran + 1) % 3;
                        thin_count[coming] = thin_edges[coming] = thin_longs[coming] = 0;
                    }
                    auto follow = [&](Offset e, Offset end, Offset stride) {
                        // Some edges at a time, stage by stage, so that their latencies overlap.
                        constexpr int WIDTH = sizeof(Offset) == 8 ? 1 : 4;
                        for (; e < end; e += WIDTH * stride) {
                            int v[WIDTH];
                            Offset first[WIDTH], last[WIDTH];
#pragma unroll
                            for (int i = 0; i < WIDTH; ++i)
                                v[i] = e + i * stride < end ? out_indices[e + i * stride] : -1;
#pragma unroll
                            for (int i = 0; i < WIDTH; ++i)
                                if (v[i] >= 0 && !search.mark(v[i])) v[i] = -1;
#pragma unroll
                            for (int i = 0; i < WIDTH; ++i)
                                if (v[i] >= 0) first[i] = out_indptr[v[i]], last[i] = out_indptr[v[i] + 1];
#pragma unroll
                            for (int i = 0; i < WIDTH; ++i)
                                if (v[i] >= 0) {
                                    const int at = atomicAdd(&thin_count[slot], 1);
                                    const Offset degree = last[i] - first[i];
                                    distance[v[i]] = level + ran + 1;
                                    queue[end_of_queue + at] = v[i];
                                    if (at < THIN) thin_begin[to][at] = first[i], thin_end[to][at] = last[i];
                                    atomicAdd(&thin_edges[slot], degree <= THIN_EDGES ? int(degree) : THIN_EDGES + 1);
                                }
                        }
                    };
                    for (int q = threadIdx.x; q < size; q += THREADS) {
                        const Offset begin = thin_begin[from][q], end = thin_end[from][q];
                        if (end - begin > SERIAL)
                            thin_long[atomicAdd(&thin_longs[slot], 1)] = q;
                        else
                            follow(begin, end, 1);
                    }
                    __syncthreads();
                    const int longs = thin_longs[slot];
                    for (int l = 0; l < longs; ++l)
                        follow(thin_begin[from][thin_long[l]] + threadIdx.x, thin_end[from][thin_long[l]], THREADS);
                    if (longs) __syncthreads();
                    size = thin_count[slot];
                    size_edges = thin_edges[slot];
                    end_of_queue += size;
                    from = to;
                    ++ran;
                }
                if (threadIdx.x == 0) {
                    Phase* result = record();
                    result->count = size;
                    result->edges = size_edges;
                    result->levels = ran;
                    result->appended = end_of_queue - tail;
                }
            }
            const Phase ran = end_phase();
            count = ran.count;
            edges = ran.edges;
            level += ran.levels;
            done += ran.levels;
            tail += ran.appended;
            head = tail - count;
            have_bitmap = false;
        } else {  // push with all blocks: a thread, a warp or a block to a vertex, by its degree
            begin_phase();
            Appender<Offset> append{search, staged[warp], queue + tail, &record()->count};
            auto visit = [&](bool active, Offset e) {
                const int v = active ? out_indices[e] : lo;
                append.add(active && search.claim(v, level + 1), v);
            };
            for (int base = head + global_warp * 32; base < tail; base += global_warps * 32) {
                Offset begin = 0, end = 0;
                int u = -1;
                if (base + lane < tail) u = queue[base + lane], begin = out_indptr[u], end = out_indptr[u + 1];
                if (end - begin >= HUB) {
                    hubs[atomicAdd(&record()->hubs, 1)] = u;
                    end = begin;
                }
                for (unsigned wide = __ballot_sync(ALL, end - begin >= 32); wide; wide &= wide - 1) {
                    const int owner = __ffs(wide) - 1;
                    const Offset stop = __shfl_sync(ALL, end, owner);
                    for (Offset e = __shfl_sync(ALL, begin, owner); e < stop; e += 32) visit(e + lane < stop, e + lane);
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
                    visit(want < total, start + (want - before));
                }
            }
            append.finish(&block_edges);
            add_block_edges();
            Phase pushed = end_phase();
            count = pushed.count;
            edges = pushed.edges;
            if (pushed.hubs) {
                begin_phase();
                Appender<Offset> more{search, staged[warp], queue + tail + count, &record()->count};
                for (int h = blockIdx.x; h < pushed.hubs; h += gridDim.x) {
                    const int u = hubs[h];
                    const Offset stop = out_indptr[u + 1];
                    for (Offset e = out_indptr[u] + warp * 32; e < stop; e += THREADS) {
                        const int v = e + lane < stop ? out_indices[e + lane] : lo;
                        more.add(e + lane < stop && search.claim(v, level + 1), v);
                    }
                }
                more.finish(&block_edges);
                add_block_edges();
                Phase rest = end_phase();
                count += rest.count;
                edges += rest.edges;
            }
            head = tail;
            tail += count;
            have_bitmap = false;
            ++level, ++done;
        }
        if (!whole) break;  // the others' part of the frontier must come first
    }

    // Leave the new frontier in the shard's own words of `frontier`.
    if (done > 0) {
        if (have_bitmap) {  // the last level was a pull, its result at `current`, which may be `frontier` itself
            if (current != own_frontier)
                for (int w = thread; w < own_words; w += threads) own_frontier[w] = current[w];
        } else {
            begin_phase();
            for (int w = thread; w < own_words; w += threads) own_frontier[w] = 0;
            end_phase();
            for (int q = head + thread; q < tail; q += threads) atomicOr(frontier + queue[q] / 32, 1u << (queue[q] % 32));
        }
    }
    begin_phase();
    end_phase();
    const bool fits = count == 0 || (!have_bitmap && count < length);
    if (fits)
        for (int q = thread; q < count; q += threads) lists[shard * length + 1 + q] = queue[head + q];
    if (thread == 0) {
        lists[shard * length] = fits ? count : length;
        control->level = level;
        control->phase = phase;
    }
}

// parents[v - lo] = the least in-neighbour of v that is one level nearer to the source, or -9999.
template <typename Offset>
__global__ void parents(const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, int lo, int hi,
                        const int* __restrict__ distance, int* parent) {
    const int own = blockIdx.x * blockDim.x + threadIdx.x, v = lo + own;
    const int mine = v < hi ? distance[v] : 0;
    Offset begin = 0, end = 0;
    if (mine > 0) begin = in_indptr[own], end = in_indptr[own + 1];
    const int found = first_match(in_indices, begin, end, AtDistance{distance, mine - 1});
    if (v < hi) parent[own] = found < 0 ? -9999 : found;
}
