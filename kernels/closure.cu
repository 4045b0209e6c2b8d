// Transitive closure: Warshall's algorithm on packed bits, a block of pivots at a time, on the tensor cores.
//
// Algorithm. For k = 0, 1, ..., n-1, Warshall (1962) adds row k to every row i that reaches k. Here K pivots are taken
// at a time, in the three phases of the blocked Floyd-Warshall algorithm (kernels/minplus.cu). In the Boolean algebra
// the order of the pivots within a block does not matter, so the phases are plain products:
//
//   factor   M = the reflexive closure of the diagonal block: I + D, squared until it no longer changes
//   solve    R = M D[pivots, :]                                the pivots' rows, closed over the block
//   update   D = D + C R, with C = D[:, pivots] unchanged      all rows, those of the pivots included
//
// A bit of a product is set if two sets of pivots have a common element: C[i], the pivots that i reaches, and R[j],
// the pivots that reach j. The tensor cores count the common elements (AND and population count; an instruction takes
// 16 x 8 pairs of sets of 256 pivots). The counters start at 2^31 - 1, so the first common pivot changes the sign, and
// one shift moves the sign into the word of the result.
//
// Encoding. The matrix is rows of 32-bit words: column j is bit j % 32 of word j / 32. Bits behind the last column are
// zero. The leading dimension is a multiple of 4 words. M, C and R are lists of sets of pivots, K bits each: of what
// each pivot reaches, of the rows, and of the columns. R is zero behind the last column, and for pivots behind the
// last one; the values of C there do not matter. K is 128 V; a lane holds V words of a set.
//
// Cost. n^3 / 32768 instructions; a multiprocessor of Hopper completes one in two clocks. With K = 512 the shifts, one
// for 32 pairs, overlap with them. The matrix is read once for K pivots, and written where it changes. Ampere has the
// instruction too. Where the compiler emulates it (Blackwell) the kernels are correct and slow.
//
// Source. S. Warshall, "A theorem on Boolean matrices", 1962.

#include "warp.cuh"
#include "copy_async.cuh"

template <int V> struct alignas(4 * V) Words { unsigned at[V]; };

// 32 sets in a warp: of set 8 p + g, lane 4 g + q holds the words q V to q V + V - 1. They are kept as the
// instruction takes them, two words of two sets in four registers in a row.
template <int V> struct Sheet {
    Words<4> operand[V];

    __device__ __forceinline__ unsigned& at(int p, int w) {
        return operand[p / 2 * (V / 2) + w / 2].at[w % 2 * 2 + p % 2];
    }

    __device__ __forceinline__ Words<V> set(int p) {
        Words<V> words;
#pragma unroll
        for (int w = 0; w < V; ++w) words.at[w] = at(p, w);
        return words;
    }
};

// Start copying K sets to shared memory; `arrived` waits for them.
template <int V, int THREADS> __device__ __forceinline__ void fetch(Words<V>* to, const Words<V>* from) {
    constexpr int WIDE = 4 / V;  // of 16 bytes
    for (int i = threadIdx.x * WIDE; i < 128 * V * 4; i += THREADS * WIDE) copy_async(to + i, from + i);
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ void arrived() {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
}

// count = before + the pivots, 256 of them, that 16 sets have in common with 8: of set g and set 2 q, of g and
// 2 q + 1, then of set 8 + g and the same two. The order of the pivots is free; it is the same on both sides.
__device__ __forceinline__ void count_common(int (&count)[4], const int* before, const Words<4>& x, unsigned y,
                                             unsigned next_y) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=r"(count[0]), "=r"(count[1]), "=r"(count[2]), "=r"(count[3])
        : "r"(x.at[0]), "r"(x.at[1]), "r"(x.at[2]), "r"(x.at[3]), "r"(y), "r"(next_y), "r"(before[0]), "r"(before[1]),
          "r"(before[2]), "r"(before[3]));
}

// The product of S sheets with K sets: bit j of a set of the result says whether it meets set j of y. A step's
// eight are chosen so that a lane's bits make up its own words of a sheet.
template <int V, int S>
__device__ __forceinline__ void multiply(const Sheet<V> (&x)[S], const Words<V>* y, Sheet<V> (&result)[S]) {
    const int none[4] = {0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff};
    const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const Words<V>* const own = y + (g / 2 * 32 * V + g % 2) * 4 + q;
#pragma unroll
    for (int w = 0; w < V; ++w) {
#pragma unroll
        for (int s = 0; s < S; ++s)
#pragma unroll
            for (int p = 0; p < 4; ++p) result[s].at(p, w) = 0;
#pragma unroll 2
        for (int t = 15; t >= 0; --t) {
            const Words<V> b = own[(32 * w + 2 * t) * 4];
#pragma unroll
            for (int s = 0; s < S; ++s)
#pragma unroll
                for (int p = 0; p < 4; p += 2) {
                    int count[4];
#pragma unroll
                    for (int v = 0; v < V; v += 2)
                        count_common(count, v ? count : none, x[s].operand[(p * V / 2 + v) / 2], b.at[v], b.at[v + 1]);
#pragma unroll
                    for (int c = 1; c >= 0; --c) {
                        result[s].at(p, w) = __funnelshift_l(count[c], result[s].at(p, w), 1);
                        result[s].at(p + 1, w) = __funnelshift_l(count[2 + c], result[s].at(p + 1, w), 1);
                    }
                }
        }
    }
}

// Of the 32 x 32 bits of two words in rows `step` apart, swap the two squares off the diagonal.
__device__ __forceinline__ void swap_squares(unsigned& upper, unsigned& lower, int step, unsigned mask) {
    const unsigned across = (upper >> step ^ lower) & mask;
    upper ^= across << step;
    lower ^= across;
}

// Transpose each 32 x 32 bits of a sheet: a word then holds one bit of each of the 32 sets.
template <int V> __device__ __forceinline__ void transpose(Sheet<V>& sheet) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int w = 0; w < V; ++w) {
        auto at = [&](int p) -> unsigned& { return sheet.at(p, w); };
        swap_squares(at(0), at(2), 16, 0x0000ffffu);
        swap_squares(at(1), at(3), 16, 0x0000ffffu);
        swap_squares(at(0), at(1), 8, 0x00ff00ffu);
        swap_squares(at(2), at(3), 8, 0x00ff00ffu);
#pragma unroll
        for (int step = 4; step > 0; step /= 2) {
            const unsigned mask = step == 4 ? 0x0f0f0f0fu : step == 2 ? 0x33333333u : 0x55555555u;
            const bool lower = lane & 4 * step;
#pragma unroll
            for (int p = 0; p < 4; ++p) {
                const unsigned other = __shfl_xor_sync(ALL, at(p), 4 * step);
                at(p) = lower ? (at(p) & ~mask) | (other >> step & mask) : (at(p) & mask) | (other & mask) << step;
            }
        }
    }
}

// M = the reflexive closure of the diagonal block, by one thread block: a warp keeps 32 of its rows in registers,
// shared memory holds its columns.
template <int V>
__global__ void __launch_bounds__(128 * V, 1)
    factor(const unsigned* D, long long ld, int row, int word, int b, Words<V>* M) {
    __shared__ __align__(16) Words<V> columns[128 * V * 4];
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    Sheet<V> rows[1];
#pragma unroll
    for (int p = 0; p < 4; ++p)
#pragma unroll
        for (int w = 0; w < V; ++w) {
            const int k = 32 * warp + 8 * p + g, at = q * V + w;
            const unsigned found = k < b && 32 * at < b ? D[(row + k) * ld + word + at] : 0;
            rows[0].at(p, w) = at == warp ? found | 1u << (8 * p + g) : found;
        }
    bool grew;
    do {
        Sheet<V> turned = rows[0], squared[1];
        transpose(turned);
#pragma unroll
        for (int p = 0; p < 4; ++p)
#pragma unroll
            for (int w = 0; w < V; ++w)
                columns[(32 * (q * V + w) + 8 * p + g) * 4 + warp / V].at[warp % V] = turned.at(p, w);
        __syncthreads();
        multiply(rows, columns, squared);
        grew = false;
#pragma unroll
        for (int p = 0; p < 4; ++p)
#pragma unroll
            for (int w = 0; w < V; ++w) grew |= squared[0].at(p, w) != rows[0].at(p, w);
        rows[0] = squared[0];
    } while (__syncthreads_or(grew));
#pragma unroll
    for (int p = 0; p < 4; ++p) M[(32 * warp + 8 * p + g) * 4 + q] = rows[0].set(p);
}

constexpr int SOLVERS = 8;  // warps of a block of `solve`, which share the sectors of the matrix that they read

// R = M D[pivots, :]: a warp takes a word of the pivots' rows, 32 columns, and turns it into sets of pivots.
template <int V>
__global__ void __launch_bounds__(32 * SOLVERS)
    solve(const unsigned* D, long long ld, int row, int words, int b, const Words<V>* M, Words<V>* R) {
    __shared__ __align__(16) Words<V> factors[128 * V * 4];
    fetch<V, 32 * SOLVERS>(factors, M);
    const int word = blockIdx.x * SOLVERS + threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    Sheet<V> known[1], solved[1];
#pragma unroll
    for (int p = 0; p < 4; ++p)
#pragma unroll
        for (int w = 0; w < V; ++w) {
            const int k = 32 * (q * V + w) + 8 * p + g;
            known[0].at(p, w) = k < b && word < words ? D[(row + k) * ld + word] : 0;
        }
    transpose(known[0]);
    arrived();
    multiply(known, factors, solved);
#pragma unroll
    for (int p = 0; p < 4; ++p) R[(32 * word + 8 * p + g) * 4 + q] = solved[0].set(p);
}

// What a block of `update` computes is S sheets a warp high and K columns wide; RESIDENT blocks fit a
// multiprocessor. Chosen by measurement (mgraph/kernels/closure/cuda.py).
template <int S_, int WARPS_, int RESIDENT_> struct Tile {
    static constexpr int S = S_, WARPS = WARPS_, RESIDENT = RESIDENT_, THREADS = 32 * WARPS;
};

// D = D + C R. The rows' sets of pivots stay in registers, the columns' in shared memory; the words of D are on
// their way while the product is formed.
template <int V, typename T>
__global__ void __launch_bounds__(T::THREADS, T::RESIDENT)
    update(unsigned* D, long long ld, int rows, int words, const Words<V>* C, const Words<V>* R) {
    __shared__ __align__(16) Words<V> columns[128 * V * 4];
    fetch<V, T::THREADS>(columns, R + blockIdx.x * (128 * V * 4LL));
    const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4, word = (blockIdx.x * 4 + q) * V;
    const int top = (blockIdx.y * T::WARPS + threadIdx.x / 32) * (32 * T::S) + g;
    auto place = [&](int s, int p) { return reinterpret_cast<Words<V>*>(D + (top + 32 * s + 8 * p) * ld + word); };
    Sheet<V> sets[T::S], met[T::S];
    Words<V> d[T::S][4];
#pragma unroll
    for (int s = 0; s < T::S; ++s)
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            const int i = top + 32 * s + 8 * p;
            const Words<V> set = i < rows ? C[i * 4LL + q] : Words<V>{};
#pragma unroll
            for (int w = 0; w < V; ++w) sets[s].at(p, w) = set.at[w];
            d[s][p] = i < rows && word < words ? *place(s, p) : Words<V>{};
        }
    arrived();
    multiply(sets, columns, met);
#pragma unroll
    for (int s = 0; s < T::S; ++s)
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            bool grew = false;
#pragma unroll
            for (int w = 0; w < V; ++w) {
                grew |= (met[s].at(p, w) & ~d[s][p].at[w]) != 0;
                d[s][p].at[w] |= met[s].at(p, w);
            }
            if (grew && top + 32 * s + 8 * p < rows && word < words) *place(s, p) = d[s][p];
        }
}

// Set `length` bits of the diagonal, from a row and a column on: a thread a bit.
__global__ void set_diagonal(unsigned* D, long long ld, int row, int column, int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) D[(row + i) * ld + (column + i) / 32] |= 1u << (column + i) % 32;
}

// Edges into a matrix of zeros, a warp a row.
template <typename Offset>
__global__ void scatter(unsigned* D, long long ld, int rows, const Offset* indptr, const int* indices) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (v >= rows) return;
    for (Offset e = indptr[v] + threadIdx.x % 32; e < indptr[v + 1]; e += 32)
        atomicOr(&D[v * ld + indices[e] / 32], 1u << indices[e] % 32);
}

// Bits of bytes that are not zero, a warp a word.
__global__ void pack(unsigned* D, long long ld, int rows, int columns, const unsigned char* bytes) {
    const int words = (columns + 31) / 32, lane = threadIdx.x % 32;
    const long long place = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (place >= static_cast<long long>(rows) * words) return;
    const long long i = place / words;
    const int word = place % words, j = 32 * word + lane;
    const unsigned bits = __ballot_sync(ALL, j < columns && bytes[i * columns + j]);
    if (lane == 0) D[i * ld + word] = bits;
}

// Bytes of zero and one, of the bits: a thread each.
__global__ void unpack(const unsigned* D, long long ld, int rows, int columns, unsigned char* bytes) {
    const long long place = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= static_cast<long long>(rows) * columns) return;
    const long long i = place / columns;
    const int j = place % columns;
    bytes[place] = D[i * ld + j / 32] >> j % 32 & 1;
}

// The bits of each row, a warp a row.
__global__ void count(const unsigned* D, long long ld, int rows, int words, long long* counts) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (v >= rows) return;
    int bits = 0;
    for (int word = lane; word < words; word += 32) bits += __popc(D[v * ld + word]);
    bits = __reduce_add_sync(ALL, bits);
    if (lane == 0) counts[v] = bits;
}
