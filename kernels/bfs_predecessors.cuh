// Breadth-first search (bfs.cu): predecessors from the finished distances.
//
// Algorithm. A vertex takes the least of its in-neighbours that are one level nearer to the source. Rows ascend, so
// that this is the first that matches. Of hubs the rest of the row is left to a second launch, in which all warps take
// pieces.
//
// Cost. Up to m random reads of distances; most rows stop early. Needs warp.cuh, hubs.cuh and neighbours.cuh.

constexpr int OPEN = 0x7fffffff;  // no parent found yet

// parents[v - lo] = the least in-neighbour of v that is one level nearer to the source, or -9999; the source itself
// at distance 1, if there is only one: `root`, else -1. The rest of hubs is left to `hub_parents`.
template <typename Offset>
__global__ void parents(const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, int lo, int hi,
                        const int* __restrict__ distance, int root, int* parent, Hub* hubs, unsigned long long* total) {
    const int own = blockIdx.x * blockDim.x + threadIdx.x, v = lo + own;
    const int mine = v < hi ? distance[v] : 0;
    const bool rooted = mine == 1 && root >= 0;
    Offset begin = 0, end = 0;
    if (mine > 0 && !rooted) begin = in_indptr[own], end = in_indptr[own + 1];
    const int found = first_match(in_indices, begin, end, AtDistance{distance, mine - 1});
    if (v >= hi) return;
    const bool later = found < 0 && end - begin > HUB;
    if (later) put_off(hubs, total, own, end - begin - HUB);
    parent[own] = rooted ? root : found >= 0 ? found : later ? OPEN : -9999;
}

// The parents of the hubs that were put off, all of which have one.
template <typename Offset>
__global__ void hub_parents(const Offset* __restrict__ in_indptr, const int* __restrict__ in_indices, int lo,
                            const int* __restrict__ distance, int* parent, const Hub* hubs,
                            const unsigned long long* total) {
    const int warps = gridDim.x * (blockDim.x / 32), warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    each_piece(hubs, *total, in_indptr, HUB, warp, warps, [&](int row, Offset begin, Offset end) {
        if (__any_sync(ALL, __ldcg(parent + row) < in_indices[begin])) return;  // rows ascend
        const int found = first_of_all(in_indices, begin, end, AtDistance{distance, distance[lo + row] - 1});
        if (found >= 0 && threadIdx.x % 32 == 0) atomicMin(parent + row, found);
    });
}
