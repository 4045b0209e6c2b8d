// A barrier across all blocks of a cooperative launch, which keeps them resident.
//
// Every block adds to one word and waits until its top bit has turned. Block 0 adds half of the word's range, less what
// the others add. So each barrier turns that bit and leaves the bits below as they were. The count never overflows,
// whatever the number of barriers and the sizes of the grids, and nothing is cleared between barriers. The grid groups
// of CUDA's cooperative groups wait in the same way.

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
