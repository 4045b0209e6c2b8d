// Bitmaps of vertices: vertex v is bit v % 32 of word v / 32.

template <typename Index> __device__ __forceinline__ bool has_bit(const unsigned* bits, Index v) {
    return bits[v / 32] >> (v % 32) & 1u;
}

// Set or clear a vertex's bit atomically; return the word as it was before.
template <typename Index> __device__ __forceinline__ unsigned set_bit(unsigned* bits, Index v) {
    return atomicOr(bits + v / 32, 1u << (v % 32));
}
template <typename Index> __device__ __forceinline__ unsigned clear_bit(unsigned* bits, Index v) {
    return atomicAnd(bits + v / 32, ~(1u << (v % 32)));
}
