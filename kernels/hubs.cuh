// Rows of very many edges, cut into pieces for all warps.
//
// The thread that meets such a row puts it off. Once all these rows are known, behind a barrier or in the next launch,
// each warp takes a run of their pieces. `total` counts the rows in its upper half and their pieces in the lower half,
// by one atomic. So `hubs` is sorted by first pieces, and bisection finds the first row of a run.

constexpr int HUB = 512;  // edges from which on a row is a hub's, and of a piece

// A hub's row, and the number of pieces of the hubs before it.
struct Hub {
    int row;
    unsigned first;
};

// Put off a number of edges of a row: `total` counts the hubs, and in its lower half their pieces.
template <typename Offset>
__device__ __forceinline__ void put_off(Hub* hubs, unsigned long long* total, int row, Offset edges) {
    const unsigned long long before = atomicAdd(total, 1ull << 32 | static_cast<unsigned>((edges + HUB - 1) / HUB));
    hubs[before >> 32] = Hub{row, static_cast<unsigned>(before)};
}

// Call look(row, begin, end) for every piece of the rows that were put off, without the first `skip` edges of each row.
// Each warp has a run of pieces, and looks up the first.
template <typename Offset, typename Look>
__device__ __forceinline__ void each_piece(const Hub* hubs, unsigned long long total, const Offset* __restrict__ indptr,
                                           int skip, int warp, int warps, Look look) {
    const unsigned count = total >> 32, pieces = static_cast<unsigned>(total);
    const unsigned share = (pieces + warps - 1) / warps, start = warp * share;
    unsigned h = 0;
    for (unsigned above = count; above - h > 1;) {
        const unsigned middle = (h + above) / 2;
        (hubs[middle].first <= start ? h : above) = middle;
    }
    for (unsigned p = start; p < min(start + share, pieces); ++p) {
        while (h + 1 < count && hubs[h + 1].first <= p) ++h;
        const Hub hub = hubs[h];
        const Offset begin = indptr[hub.row] + skip + static_cast<Offset>(p - hub.first) * HUB;
        const Offset end = indptr[hub.row + 1];
        look(hub.row, begin, begin + HUB < end ? begin + HUB : end);
    }
}
