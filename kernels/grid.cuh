// A barrier across all blocks of a cooperative launch, which keeps them resident.
//
// Every block adds to one word and waits until its top bit has turned. Block 0 adds half of the word's range less what
// the others add, so each barrier turns that bit and leaves the ones below it as they were: however many there are in a
// search, and of whatever grids, the count never runs over, and nothing is cleared between them. This is how the
// grid groups of CUDA's cooperative groups wait for one another.

__device__ __forceinline__ void grid_barrier(unsigned* arrived) {
    constexpr unsigned TOP = 0x80000000u;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned before = atomicAdd(arrived, blockIdx.x == 0 ? TOP - (gridDim.x - 1) : 1u);
        unsigned now;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
        } while (!((before ^ now) & TOP));
        __threadfence();
    }
    __syncthreads();
}
