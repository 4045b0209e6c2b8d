// Vertices and their edges dealt to the threads of a launch of any number of blocks. Needs warp.cuh and block.cuh.

constexpr int THREADS = 256, WARPS = THREADS / 32;

// A thread's first vertex, and how far its next is from there. Unsigned, as the sum of the two may be above 2^31.
__device__ __forceinline__ unsigned own() { return blockIdx.x * THREADS + threadIdx.x; }
__device__ __forceinline__ unsigned stride() { return gridDim.x * THREADS; }

// Call visit(v, u) for each edge from a vertex v of the block's that is `wanted`, of 256 vertices at a time. The edges
// of these are laid end to end and dealt to the threads, so that a vertex of many neighbours is the whole block's.
template <typename Offset, typename Wanted, typename Visit>
__device__ __forceinline__ void each_edge(const Offset* __restrict__ indptr, const int* __restrict__ indices, int lo,
                                          int hi, Wanted wanted, Visit visit) {
    __shared__ Offset ends[THREADS];    // where a vertex's edges end among the block's,
    __shared__ Offset shifts[THREADS];  // and what is added to an edge's number there to find it in `indices`
    __shared__ Offset sums[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
    for (unsigned base = blockIdx.x * THREADS; base < hi - lo; base += stride()) {
        const unsigned mine = base + threadIdx.x;
        Offset first = 0, degree = 0;
        if (mine < hi - lo && wanted(lo + mine)) {
            first = indptr[mine];
            degree = indptr[mine + 1] - first;
        }
        // Behind this no thread uses the shared arrays of the vertices before.
        if (!__syncthreads_or(degree > 0)) continue;
        Offset end = running_sum(degree);
        if (lane == 31) sums[warp] = end;
        __syncthreads();
        for (int w = 0; w < warp; ++w) end += sums[w];
        ends[threadIdx.x] = end;
        shifts[threadIdx.x] = first - (end - degree);
        __syncthreads();
        for (Offset e = threadIdx.x; e < ends[THREADS - 1]; e += THREADS) {
            const int at = owner<THREADS>(ends, e);
            visit(lo + base + at, indices[shifts[at] + e]);
        }
    }
}
