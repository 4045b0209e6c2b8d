// The first neighbour of a vertex that fits: one in the frontier, or one at a given distance.
//
// Algorithm. Each lane of a warp has a vertex, and looks at its first SERIAL neighbours alone, LOOK at a time so that
// the latencies of their reads overlap. Then the warp takes the longer rows one by one, 32 neighbours at a time. Both
// stop at the first that matches, in the order of the row. Of a hub only the first HUB neighbours are looked at: the
// rest is cut into pieces (hubs.cuh).
//
// All lanes of a warp call these together. Needs warp.cuh, bitmap.cuh and hubs.cuh.

constexpr int SERIAL = 16;  // edges that a thread looks at alone before others help
constexpr int LOOK = 4;     // neighbours that a thread looks at together

// The first of indices[begin..end) that `matches`, or -1; all lanes of a warp look for it together.
template <typename Offset, typename Matches>
__device__ __forceinline__ int first_of_all(const int* __restrict__ indices, Offset begin, Offset end,
                                            Matches matches) {
    for (; begin < end; begin += 32) {
        const Offset e = begin + threadIdx.x % 32;
        const int u = e < end ? indices[e] : -1;
        const unsigned hits = __ballot_sync(ALL, u >= 0 && matches(u));
        if (hits) return __shfl_sync(ALL, u, __ffs(hits) - 1);
    }
    return -1;
}

// For each lane, the first of its neighbours indices[begin..end) that `matches`, or -1; of those of a hub, only HUB are
// looked at. All lanes of a warp call it together: each looks at a few alone, then the warp takes the long rows one
// by one.
template <typename Offset, typename Matches>
__device__ __forceinline__ int first_match(const int* __restrict__ indices, Offset begin, Offset end, Matches matches) {
    const int lane = threadIdx.x % 32;
    int found = -1;
    if (end - begin > HUB) end = begin + HUB;
    Offset alone = end - begin > SERIAL ? begin + SERIAL : end;
    for (Offset e = begin; found < 0 && e < alone; e += LOOK) {
        int u[LOOK];
#pragma unroll
        for (int i = 0; i < LOOK; ++i) u[i] = e + i < alone ? indices[e + i] : -1;
#pragma unroll
        for (int i = LOOK - 1; i >= 0; --i)
            if (u[i] >= 0 && matches(u[i])) found = u[i];
    }
    for (unsigned left = __ballot_sync(ALL, found < 0 && alone < end); left; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const int first = first_of_all(indices, __shfl_sync(ALL, alone, owner), __shfl_sync(ALL, end, owner),
                                       matches.of(owner));
        if (lane == owner) found = first;
    }
    return found;
}

struct InBitmap {
    const unsigned* bits;
    __device__ bool operator()(int u) const { return has_bit(bits, u); }
    __device__ InBitmap of(int) const { return *this; }  // the condition of lane `owner`
};

struct AtDistance {
    const int* distance;
    int wanted;
    __device__ bool operator()(int u) const { return distance[u] == wanted; }
    __device__ AtDistance of(int owner) const { return {distance, __shfl_sync(ALL, wanted, owner)}; }
};
