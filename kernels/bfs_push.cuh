// Breadth-first search (bfs.cu): how warps follow the edges out of a frontier, and append the vertices
// that they find first to a queue.
//
// Algorithm. A target's visited bit is looked up, and set by an atomic if it is unset: the thread that finds it unset
// came first. `Appender` gathers such vertices in shared memory, 64 words a warp, and appends them to the queue 32 at
// a time: one atomic for 32 vertices, and a write of neighbouring words. It also sums up the edges out of them, from
// which the next level's direction is chosen.
//
// Races. A look at a visited bit may be stale, and then costs the atomic. Only the thread that came first writes the
// target's distance and parent. The queue's count is raised before its vertices are written, so a barrier stands before
// they are read.
//
// All lanes of a warp call these together. Needs warp.cuh. sssp.cu appends to its piles in the same way, by code of
// its own: a shared class, of which either search uses a part, changes the machine code of both.

template <typename Offset, bool Tree> struct Search {
    const Offset* out_indptr;
    const int* out_indices;
    int* distance;
    int* parent;
    unsigned* visited;
    int* queue;
    int lo;

    __device__ __forceinline__ int word(int v) const { return (v - lo) / 32; }
    __device__ __forceinline__ unsigned bit(int v) const { return 1u << (v & 31); }  // lo is a multiple of 32
    // Mark v as visited; return the word as it was. The first caller finds the bit of v unset there. If the answer were
    // returned instead of the word, the compiler would wait for one before it asks for the next.
    __device__ __forceinline__ unsigned mark(int v) const { return atomicOr(visited + word(v), bit(v)); }
    // Make u, from which v was reached first, its parent.
    __device__ __forceinline__ void set_parent(int v, int u) const {
        if constexpr (Tree) parent[v - lo] = u;
    }
};

// Vertices that a warp found, gathered in shared memory and appended to the queue 32 at a time.
template <typename Offset> struct Appender {
    const Offset* out_indptr;
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
            edges += out_indptr[v + 1] - out_indptr[v];
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

// Follow u's edges [begin, end) with all lanes of a warp, some at a time, stage by stage, so that latencies overlap.
template <typename Offset, bool Tree>
__device__ __forceinline__ void follow_wide(const Search<Offset, Tree>& search, int u, Offset begin, Offset end,
                                            int level, Appender<Offset>& append) {
    constexpr int WIDTH = sizeof(Offset) == 8 ? 2 : 4;
    for (Offset base = begin; base < end; base += 32 * WIDTH) {
        const Offset e = base + threadIdx.x % 32;
        int v[WIDTH];
        unsigned known[WIDTH];
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            v[i] = search.lo;
            known[i] = e + 32 * i < end ? 0 : ALL;
            if (!known[i]) v[i] = search.out_indices[e + 32 * i];
        }
#pragma unroll
        for (int i = 0; i < WIDTH; ++i)
            if (!known[i]) known[i] = search.visited[search.word(v[i])];
#pragma unroll
        for (int i = 0; i < WIDTH; ++i)
            if (!(known[i] & search.bit(v[i]))) known[i] = search.mark(v[i]);
#pragma unroll
        for (int i = 0; i < WIDTH; ++i)  // not in the loop below, for registers
            if (!(known[i] & search.bit(v[i]))) search.set_parent(v[i], u);
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            const bool won = !(known[i] & search.bit(v[i]));
            if (won) search.distance[v[i]] = level;
            append.add(won, v[i]);
        }
    }
}
