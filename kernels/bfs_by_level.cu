// Breadth-first search with a launch or two for each level: the published ways to find the next level.
//
// Algorithms. `edge` looks at every edge in each level, a thread an edge. `vertex` looks at every vertex, and those of
// the level push. `expand` and `update` are the two kernels of Harish and Narayanan (2007): the vertices of the level
// mark the vertices that they reach first, then the marks become the next level. `enqueue` has a queue of the level.
// Each block gathers what it finds in a queue of its own in shared memory, and appends that to the next level's queue
// with one atomic; vertices that do not fit are appended one by one (Luo, Wong and Hwu 2010; Kirk and Hwu 2016). Where
// the blocks have no queues, every vertex is appended by an atomic on one counter.
// `gather` and `filter` do linear work (Merrill, Garland and Grimshaw 2012). `gather` sums up the degrees of a block's
// vertices, which gives each its place in a list of edges, and copies their targets there; the whole block copies a
// long row. `filter` drops the targets visited before, and compacts the rest by prefix sums. A level that one block
// can handle skips the list: `thin` runs as many levels as stay thin in one launch.
//
// Encoding. A shard owns the vertices [lo, hi), lo a multiple of 32, and the edges into them: by source (out_*, row
// u, only targets in the range), for `edge` both ends of each. `frontier` is a bitmap of all n vertices and the only
// thing shards exchange; the new one is left in the shard's own words of it. `distance` has all n vertices, of which
// the shard writes its own; -1 is unvisited. A vertex enters `queue` at most once from one listing of the frontier to
// the next, as it is visited once: n elements are enough. `edges` holds the edges out of one level, all of the
// shard's at most.
//
// Races. In `edge`, `vertex` and `expand` threads write the same value to a distance or a mark, in any order; a
// thread that still reads the old value writes it once more. Elsewhere an atomic decides which thread is first. A look
// before it may be stale, which only costs the atomic.
//
// Cost. With D levels: `edge` D m looks at a distance, and at the frontier for the unvisited; `vertex` and the two
// kernels of the masks D n and m; the others n + m, of which `gather` and `filter` write and read each edge once more.
//
// Predecessors are found afterwards from the distances, by `parents` of bfs_predecessors.cuh.
//
// Sources. P. Harish, P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007. L. Luo, M.
// Wong, W. Hwu, "An effective GPU implementation of breadth-first search", 2010. D. Merrill, M. Garland, A. Grimshaw,
// "Scalable GPU graph traversal", 2012. Y. Jia, V. Lu, J. Hoberock, M. Garland, J. Hart, "Edge v. node parallelism for
// graph centrality metrics", 2011. D. Kirk, W. Hwu, "Programming massively parallel processors", 3rd edition, 2016.

#include "warp.cuh"
#include "bitmap.cuh"
#include "block.cuh"

constexpr int THREADS = 256;
constexpr int THIN = 1024;         // threads of the one block of a thin level, and the vertices it takes,
constexpr int THIN_EDGES = 16384;  // and the edges out of them

// What launches report to the host, which clears it before.
struct Control {
    unsigned long long found;   // vertices found, or counted
    unsigned long long levels;  // run by `thin`,
    unsigned long long last;    // and the vertices of the last of them
    unsigned long long edges;   // out of the vertices of a level
};

// Mark the vertex numbered v in the shard as visited; true for the one caller that comes first.
__device__ __forceinline__ bool claim(unsigned* visited, int v) {
    const unsigned bit = 1u << (v % 32);
    return !(visited[v / 32] & bit) && !(atomicOr(visited + v / 32, bit) & bit);
}

// Add what the lanes of a warp have to the vertices found.
__device__ __forceinline__ void add(Control* control, int mine) {
    mine = __reduce_add_sync(ALL, mine);
    if (threadIdx.x % 32 == 0 && mine) atomicAdd(&control->found, static_cast<unsigned long long>(mine));
}

// Count the vertices of the frontier.
__global__ void __launch_bounds__(THREADS) count(int words, const unsigned* __restrict__ frontier, Control* control) {
    const int w = blockIdx.x * THREADS + threadIdx.x;
    add(control, w < words ? __popc(frontier[w]) : 0);
}

// Write the vertices of the frontier to the queue.
__global__ void __launch_bounds__(THREADS) list(int words, const unsigned* __restrict__ frontier, int* queue,
                                                Control* control) {
    __shared__ int sums[THREADS / 32];
    __shared__ unsigned long long place;
    const int w = blockIdx.x * THREADS + threadIdx.x;
    unsigned bits = w < words ? frontier[w] : 0;
    int all;
    const int before = sum_before<THREADS>(__popc(bits), sums, &all);
    if (threadIdx.x == 0) place = atomicAdd(&control->found, static_cast<unsigned long long>(all));
    __syncthreads();
    for (int* at = queue + place + before; bits; bits &= bits - 1) *at++ = w * 32 + __ffs(bits) - 1;
}

// Set the bits of the queue's vertices.
__global__ void __launch_bounds__(THREADS) mark(int size, const int* __restrict__ queue, unsigned* frontier) {
    const int q = blockIdx.x * THREADS + threadIdx.x;
    if (q < size) set_bit(frontier, queue[q]);
}

// targets[e] = the vertex into which edge e leads.
template <typename Offset>
__global__ void __launch_bounds__(THREADS)
    rows(const Offset* __restrict__ in_indptr, int lo, int hi, long long m, int* targets) {
    const long long e = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    if (e >= m) return;
    int low = 0, high = hi - lo - 1;  // the last vertex that begins at e or before
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (in_indptr[middle] <= e)
            low = middle;
        else
            high = middle - 1;
    }
    targets[e] = lo + low;
}

// A thread an edge.
__global__ void __launch_bounds__(THREADS) edge(long long m, const int* __restrict__ sources,
                                                const int* __restrict__ targets, const unsigned* __restrict__ frontier,
                                                int level, int* distance) {
    const long long e = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    if (e < m && distance[targets[e]] < 0 && has_bit(frontier, sources[e])) distance[targets[e]] = level;
}

// A thread a vertex.
template <typename Offset>
__global__ void __launch_bounds__(THREADS)
    vertex(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices, int n,
           const unsigned* __restrict__ frontier, int level, int* distance) {
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (u >= n || !has_bit(frontier, u)) return;
    for (Offset e = out_indptr[u]; e < out_indptr[u + 1]; ++e) {
        const int v = out_indices[e];
        if (distance[v] < 0) distance[v] = level;
    }
}

// The vertices at distance `level` are the frontier, and counted.
__global__ void __launch_bounds__(THREADS)
    settle(int lo, int hi, int level, const int* __restrict__ distance, unsigned* frontier, Control* control) {
    const int own = blockIdx.x * THREADS + threadIdx.x, v = lo + own;
    const unsigned bits = __ballot_sync(ALL, own < hi - lo && distance[v] == level);
    if (threadIdx.x % 32 == 0 && own < hi - lo) frontier[v / 32] = bits;
    add(control, bits >> (threadIdx.x % 32) & 1u);
}

// Kernel 1 of the masks: reach the neighbours of the frontier that were not visited.
template <typename Offset>
__global__ void __launch_bounds__(THREADS)
    expand(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices, int n, int lo,
           const unsigned* __restrict__ frontier, const unsigned char* __restrict__ visited, int level,
           unsigned char* updating, int* distance) {
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (u >= n || !has_bit(frontier, u)) return;
    for (Offset e = out_indptr[u]; e < out_indptr[u + 1]; ++e) {
        const int v = out_indices[e];
        if (visited[v - lo]) continue;
        distance[v] = level;
        updating[v - lo] = 1;
    }
}

// Kernel 2 of the masks: those reached are visited, the frontier, and counted.
__global__ void __launch_bounds__(THREADS)
    update(int lo, int hi, unsigned char* visited, unsigned char* updating, unsigned* frontier, Control* control) {
    const int own = blockIdx.x * THREADS + threadIdx.x;
    const bool reached = own < hi - lo && updating[own];
    if (reached) {
        visited[own] = 1;
        updating[own] = 0;
    }
    const unsigned bits = __ballot_sync(ALL, reached);
    if (threadIdx.x % 32 == 0 && own < hi - lo) frontier[(lo + own) / 32] = bits;
    add(control, reached);
}

// A thread a vertex of the queue, which has `size`; `next` is where the next level begins. A block's own queue has room
// for HELD vertices.
template <typename Offset, int HELD>
__global__ void __launch_bounds__(THREADS)
    enqueue(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices, int size,
               const int* __restrict__ queue, int level, int* distance, int* next, Control* control) {
    __shared__ int held[HELD ? HELD : 1];
    __shared__ int found;
    __shared__ unsigned long long place;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const int q = blockIdx.x * THREADS + threadIdx.x;
    if (q < size) {
        const int u = queue[q];
        for (Offset e = out_indptr[u]; e < out_indptr[u + 1]; ++e) {
            const int v = out_indices[e];
            if (distance[v] >= 0 || atomicCAS(distance + v, -1, level) >= 0) continue;
            const int at = HELD ? atomicAdd(&found, 1) : HELD;
            if (at < HELD)
                held[at] = v;
            else
                next[atomicAdd(&control->found, 1ULL)] = v;
        }
    }
    if (!HELD) return;
    __syncthreads();
    const int kept = min(found, HELD);
    if (threadIdx.x == 0) place = atomicAdd(&control->found, static_cast<unsigned long long>(kept));
    __syncthreads();
    for (int i = threadIdx.x; i < kept; i += THREADS) next[place + i] = held[i];
}

// Copy the targets of the queue's edges to a list.
template <typename Offset>
__global__ void __launch_bounds__(THREADS)
    gather(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices, int size,
           const int* __restrict__ queue, int* edges, Control* control) {
    __shared__ int ends[THREADS];       // where a vertex's edges end among those of the block,
    __shared__ Offset shifts[THREADS];  // and what is added to an edge's number there to find it in out_indices
    __shared__ int sums[THREADS / 32], wides;
    __shared__ int wide[THREADS];  // vertices whose edges the whole block copies
    __shared__ unsigned long long wide_place[THREADS], place;
    if (threadIdx.x == 0) wides = 0;
    __syncthreads();
    const int q = blockIdx.x * THREADS + threadIdx.x;
    Offset begin = 0, degree = 0;
    if (q < size) {
        const int u = queue[q];
        begin = out_indptr[u];
        degree = out_indptr[u + 1] - begin;
        if (degree >= THREADS) {
            const int at = atomicAdd(&wides, 1);
            wide[at] = u;
            wide_place[at] = atomicAdd(&control->edges, static_cast<unsigned long long>(degree));
            degree = 0;
        }
    }
    int all;
    const int before = sum_before<THREADS>(static_cast<int>(degree), sums, &all);
    ends[threadIdx.x] = before + static_cast<int>(degree);
    shifts[threadIdx.x] = begin - before;
    if (threadIdx.x == 0) place = atomicAdd(&control->edges, static_cast<unsigned long long>(all));
    __syncthreads();
    for (int e = threadIdx.x; e < all; e += THREADS)
        edges[place + e] = out_indices[shifts[owner<THREADS>(ends, e)] + e];
    for (int w = 0; w < wides; ++w) {
        const Offset first = out_indptr[wide[w]], last = out_indptr[wide[w] + 1];
        for (Offset e = first + threadIdx.x; e < last; e += THREADS)
            edges[wide_place[w] + (e - first)] = out_indices[e];
    }
}

// Keep those of the list that were not visited, each once.
__global__ void __launch_bounds__(THREADS) filter(const int* __restrict__ edges, int lo, int level, unsigned* visited,
                                                  int* distance, int* next, Control* control) {
    __shared__ int sums[THREADS / 32];
    __shared__ unsigned long long place;
    const unsigned long long total = control->edges, stride = static_cast<unsigned long long>(gridDim.x) * THREADS;
    unsigned long long base = static_cast<unsigned long long>(blockIdx.x) * THREADS;
    for (; base < total; base += stride) {
        int v = -1;
        if (base + threadIdx.x < total) {
            v = edges[base + threadIdx.x];
            if (claim(visited, v - lo))
                distance[v] = level;
            else
                v = -1;
        }
        int all;
        const int before = sum_before<THREADS>(v >= 0, sums, &all);
        if (threadIdx.x == 0) place = atomicAdd(&control->found, static_cast<unsigned long long>(all));
        __syncthreads();
        if (v >= 0) next[place + before] = v;
    }
}

// Run up to `limit` levels in one block, as long as they stay thin; the first is queue[head..tail), and what is found
// is appended to it.
template <typename Offset>
__global__ void __launch_bounds__(THIN)
    thin(const Offset* __restrict__ out_indptr, const int* __restrict__ out_indices, int lo, unsigned* visited,
         int* distance, int* queue, int head, int tail, int level, int limit, Control* control) {
    __shared__ int ends[THIN];       // as in `gather`
    __shared__ Offset shifts[THIN];
    __shared__ int sums[THIN / 32], found;
    const int start = tail;
    int size = tail - head, ran = 0;
    while (ran < limit && size > 0 && size <= THIN) {
        Offset begin = 0, degree = 0;
        if (threadIdx.x < size) {
            const int u = queue[head + threadIdx.x];
            begin = out_indptr[u];
            degree = out_indptr[u + 1] - begin;
        }
        if (__syncthreads_or(degree > THIN_EDGES)) break;
        int all;
        const int before = sum_before<THIN>(static_cast<int>(degree), sums, &all);
        if (all > THIN_EDGES) break;
        ends[threadIdx.x] = before + static_cast<int>(degree);
        shifts[threadIdx.x] = begin - before;
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        for (int e = threadIdx.x; e < all; e += THIN) {
            const int v = out_indices[shifts[owner<THIN>(ends, e)] + e];
            if (!claim(visited, v - lo)) continue;
            distance[v] = level + ran;
            queue[tail + atomicAdd(&found, 1)] = v;
        }
        __syncthreads();
        size = found;
        head = tail;
        tail += size;
        ++ran;
    }
    if (threadIdx.x == 0) {
        control->found = tail - start;
        control->levels = ran;
        control->last = size;
    }
}
