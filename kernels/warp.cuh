// Operations of all 32 lanes of a warp together.

constexpr unsigned ALL = 0xffffffffu;  // the mask of all lanes

// The sum of the lanes' values up to and including each lane's own, by Hillis and Steele's scan: five shuffles.
template <typename T> __device__ __forceinline__ T running_sum(T value) {
    const int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        const T left = __shfl_up_sync(ALL, value, step);
        if (lane >= step) value += left;
    }
    return value;
}

// The sum of all lanes' values, the same bits in each lane.
template <typename T> __device__ __forceinline__ T sum_of_lanes(T value) {
    for (int step = 16; step; step /= 2) value += __shfl_xor_sync(ALL, value, step);
    return value;
}
