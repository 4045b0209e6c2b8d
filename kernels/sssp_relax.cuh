// Shortest paths (sssp.cu): how the edges out of vertices are relaxed. `Relax` is what is done with an edge.
//
// Algorithm. A lane, a warp or many warps take a vertex, by its degree. Short rows of a warp are laid end to end, as
// by Merrill, Garland and Grimshaw (2012); a row of 32 edges or more is taken by its warp; one of HUB or more is cut
// into pieces, which all warps take in a phase of their own.
//
// Needs warp.cuh, distances.cuh, infinity.cuh and sssp_phases.cuh.

constexpr int HUB = 128, PIECE = 256;  // edges from which on a vertex is cut into pieces for all warps, and of a piece

// A vertex whose edges are relaxed, and its distance.
template <typename T> struct From {
    int vertex;
    T distance;
};

// A part of a hub's edges.
struct Piece {
    int vertex, number;
};

template <typename T, typename Offset> struct Graph {
    // Edges of a thread on their way at a time, as registers allow.
    static constexpr int WIDTH = sizeof(T) == 8 ? 1 : sizeof(Offset) == 8 ? 2 : 4;
    const Offset* __restrict__ indptr;
    const int* __restrict__ indices;
    const T* __restrict__ weights;

    // Relax the edges [begin, end) out of one vertex, 32 lanes side by side, stage by stage so that latencies overlap.
    // `relax.promises` says whether an edge may lower anything, `relax.enter` lowers it, and all lanes together hand
    // what that returned to `relax.take`.
    template <typename Relax>
    __device__ __forceinline__ void wide(From<T> from, Offset begin, Offset end, Relax& relax) const {
        for (Offset e = begin + threadIdx.x % 32; __any_sync(ALL, e < end); e += 32 * WIDTH) {
            int v[WIDTH];
            T x[WIDTH];
            bool promises[WIDTH];
            int was[WIDTH];
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) {
                const bool there = e + 32 * i < end;
                v[i] = there ? indices[e + 32 * i] : -1;
                x[i] = there ? sum(from.distance, weights[e + 32 * i]) : infinity<T>();
            }
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) promises[i] = v[i] >= 0 && relax.promises(from, e + 32 * i, v[i], x[i]);
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) was[i] = promises[i] ? relax.enter(from, v[i], x[i]) : 0;
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) relax.take(promises[i], v[i], x[i], was[i]);
        }
    }

    // Relax the edges out of a vertex a lane; those of hubs go to `pieces`, for later. A lane without a vertex passes
    // -1.
    template <typename Relax>
    __device__ __forceinline__ void each(From<T> from, Piece* pieces, int* count, Relax& relax) const {
        const int lane = threadIdx.x % 32;
        Offset begin = 0, end = 0;
        if (from.vertex >= 0) begin = indptr[from.vertex], end = indptr[from.vertex + 1];
        int needed = 0, at = 0;
        if (end - begin >= HUB) {
            needed = static_cast<int>((end - begin + PIECE - 1) / PIECE), at = atomicAdd(count, needed);
            end = begin;
        }
        for (unsigned hubs = __ballot_sync(ALL, needed); hubs; hubs &= hubs - 1) {
            const int owner = __ffs(hubs) - 1, vertex = __shfl_sync(ALL, from.vertex, owner);
            const int number = __shfl_sync(ALL, needed, owner), first = __shfl_sync(ALL, at, owner);
            for (int i = lane; i < number; i += 32) pieces[first + i] = Piece{vertex, i};
        }
        for (unsigned left = __ballot_sync(ALL, end - begin >= 32); left; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const From<T> one{__shfl_sync(ALL, from.vertex, owner), __shfl_sync(ALL, from.distance, owner)};
            wide(one, __shfl_sync(ALL, begin, owner), __shfl_sync(ALL, end, owner), relax);
        }
        const int degree = end - begin < 32 ? static_cast<int>(end - begin) : 0;
        int after = degree;
        for (int step = 1; step < 32; step *= 2) {
            const int left = __shfl_up_sync(ALL, after, step);
            if (lane >= step) after += left;
        }
        const int total = __shfl_sync(ALL, after, 31);
        for (int first = 0; first < total; first += 32) {
            const int want = first + lane;
            int owner = 0;  // the first lane whose lists end behind `want`
#pragma unroll
            for (int step = 16; step; step /= 2)
                if (__shfl_sync(ALL, after, owner + step - 1) <= want) owner += step;
            owner &= 31;
            const From<T> one{__shfl_sync(ALL, from.vertex, owner), __shfl_sync(ALL, from.distance, owner)};
            const Offset e = __shfl_sync(ALL, begin, owner) + (want - __shfl_sync(ALL, after - degree, owner));
            const bool there = want < total;
            const int v = there ? indices[e] : -1;
            const T x = there ? sum(one.distance, weights[e]) : infinity<T>();
            const bool promises = there && relax.promises(one, e, v, x);
            relax.take(promises, v, x, promises ? relax.enter(one, v, x) : 0);
        }
    }

    // Relax the pieces that were put off, a warp each.
    template <typename Relax>
    __device__ __forceinline__ void rest(const Piece* pieces, int count, const T* distance, Relax& relax) const {
        const int warp = blockIdx.x * WARPS + threadIdx.x / 32, warps = gridDim.x * WARPS;
        for (int p = warp; p < count; p += warps) {
            const int vertex = __ldcg(&pieces[p].vertex), number = __ldcg(&pieces[p].number);
            const Offset begin = indptr[vertex] + static_cast<Offset>(number) * PIECE, stop = indptr[vertex + 1];
            wide(From<T>{vertex, __ldcg(distance + vertex)}, begin, begin + PIECE < stop ? begin + PIECE : stop, relax);
        }
    }
};
