// Operations of all threads of a block together. Needs warp.cuh.

// The sum of `mine` over the threads before, and of all. `sums` has room for each of the N / 32 warps.
template <int N> __device__ __forceinline__ int sum_before(int mine, int* sums, int* all) {
    const int warp = threadIdx.x / 32;
    const int end = running_sum(mine);
    if (threadIdx.x % 32 == 31) sums[warp] = end;
    __syncthreads();
    int before = end - mine, total = 0;
    for (int w = 0; w < N / 32; ++w) {
        if (w < warp) before += sums[w];
        total += sums[w];
    }
    __syncthreads();  // `sums` may be written again
    *all = total;
    return before;
}

// The first of N ascending ends that lies behind e, by bisection. N is a power of two.
template <int N, typename End, typename Place> __device__ __forceinline__ int owner(const End* ends, Place e) {
    int at = 0;
#pragma unroll
    for (int step = N / 2; step; step /= 2)
        if (ends[at + step - 1] <= e) at += step;
    return at;
}
