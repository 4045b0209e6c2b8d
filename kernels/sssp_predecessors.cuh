// Shortest paths (sssp.cu): predecessors from the finished distances.
//
// An edge from u to v is tight where distance[u] + weight = distance[v]. `parents` takes the least tight edge from a
// nearer vertex; `settle_roots` gives NONE to the vertices without a predecessor, and says whether any is open;
// `tight` makes the weights of the search by hops that settles those.
//
// Cost. One look at each edge, and an atomic for each tight edge that lowers a predecessor. Needs sssp_relax.cuh.

constexpr int OPEN = 0x7fffffff;  // no predecessor found yet
constexpr int NONE = -9999;       // none there is

// Makes the least nearer vertex with a tight edge a vertex's predecessor.
template <typename T, typename Offset> struct Adopting {
    const T* distance;
    int* parent;
    int lo;

    __device__ __forceinline__ bool promises(const From<T>& from, Offset, int v, T x) const {
        return from.distance < x && x < infinity<T>() && x == distance[v] && from.vertex < __ldcg(parent + (v - lo));
    }
    __device__ __forceinline__ int enter(const From<T>& from, int v, T) const {
        return atomicMin(parent + (v - lo), from.vertex);
    }
    __device__ __forceinline__ void take(bool, int, T, int) const {}
};

// Sets the number of hops of an edge: 1 if it is tight and leads to a vertex without a predecessor, else infinity.
template <typename T, typename Offset> struct Counting {
    const T* distance;
    const int* parent;
    int* hops;
    int lo;

    __device__ __forceinline__ bool promises(const From<T>&, Offset e, int v, T x) const {
        const bool tight = x < infinity<T>() && x == distance[v] && parent[v - lo] == OPEN;
        hops[e] = tight ? 1 : infinity<int>();
        return false;
    }
    __device__ __forceinline__ int enter(const From<T>&, int, T) const { return 0; }
    __device__ __forceinline__ void take(bool, int, T, int) const {}
};

// Look at every edge out of all n vertices once, in two phases: those of hubs in the second.
template <typename T, typename Offset, typename Look>
__device__ __forceinline__ void look_at_all(const Graph<T, Offset>& graph, int n, const T* distance, Piece* pieces,
                                            Control<T>* control, Look& look) {
    const int lane = threadIdx.x % 32;
    const int global_warp = blockIdx.x * WARPS + threadIdx.x / 32, global_warps = gridDim.x * WARPS;
    Phases<T> phases(control);
    phases.begin();
    for (int w = global_warp; w < (n + 31) / 32; w += global_warps) {
        const int u = w * 32 + lane;
        graph.each(u < n ? From<T>{u, distance[u]} : From<T>{-1, T(0)}, pieces, &phases.record()->pieces, look);
    }
    graph.rest(pieces, phases.end().pieces, distance, look);
}

// parent[v - lo] = the least vertex u nearer than v with a tight edge to v, if there is one. A cooperative launch.
template <typename T, typename Offset>
__global__ void __launch_bounds__(THREADS, 1)
    parents(const Offset* __restrict__ indptr, const int* __restrict__ indices, const T* __restrict__ weights, int n,
            int lo, const T* distance, int* parent, Piece* pieces, Control<T>* control) {
    Adopting<T, Offset> adopt{distance, parent, lo};
    look_at_all(Graph<T, Offset>{indptr, indices, weights}, n, distance, pieces, control, adopt);
}

// hops[e] = 1 for each tight edge e to a vertex that is open, else infinite. A cooperative launch.
template <typename T, typename Offset>
__global__ void __launch_bounds__(THREADS, 1)
    tight(const Offset* __restrict__ indptr, const int* __restrict__ indices, const T* __restrict__ weights, int n,
          int lo, const T* distance, const int* parent, int* hops, Piece* pieces, Control<T>* control) {
    Counting<T, Offset> count{distance, parent, hops, lo};
    look_at_all(Graph<T, Offset>{indptr, indices, weights}, n, distance, pieces, control, count);
}

// Vertices of [lo, hi) that no path leads to, and the source, have no predecessor. `open` is set if any other has none
// yet.
template <typename T>
__global__ void settle_roots(int lo, int hi, int source, const T* __restrict__ distance, int* parent, int* open) {
    const int v = lo + blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= hi) return;
    if (!(distance[v] < infinity<T>()) || v == source)
        parent[v - lo] = NONE;
    else if (parent[v - lo] == OPEN)
        *open = 1;
}
