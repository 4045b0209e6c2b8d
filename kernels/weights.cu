// Conversion between the user's integers and the integers that kernels sum: weights in, distances out.
//
// Algorithm. One pass over a matrix, a thread an element; in place if both matrices are the same. `encode` replaces
// the largest value of an integer type, which means "no edge" in a matrix, by the kernels' infinity. `decode` replaces
// infinity by the largest value of the type. Both report to the host what the type of the distances cannot represent:
// `encode` a weight that is too large, `decode` a distance out of range, which was cut off at infinity or wrapped.
//
// Encoding. Infinity is inf; for int 2^30 - 1, for short 2^14 - 1. With negative weights an infinity may have been
// lowered, so every value of `unreached` or more counts as infinite and loses its label. `labels` may be null.
//
// `survey` looks at a matrix before any of this.
//
// Cost. One read of each element. `encode` writes each element, `decode` only those without a path. Memory-bound.

constexpr int THREADS = 256;
constexpr int NONE = -9999;  // no predecessor

// out = values, whose element (i, j) is at i * down + j * across. If `most` is not negative and weights are greater
// than `most` or less than -most, `fault` becomes 1 more than the place of the last of these, counted row by row.
template <typename From, typename T>
__global__ void __launch_bounds__(THREADS)
    encode(const From* values, long long down, long long across, T* out, long long ld, int rows, long long columns,
           bool dense, T infinity, int most, unsigned long long* fault) {
    constexpr From ZERO = 0, ABSENT = From(-1) > ZERO ? From(-1) : static_cast<From>(~(1ull << (8 * sizeof(From) - 1)));
    const long long j = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    if (j >= columns) return;
    for (int i = blockIdx.y; i < rows; i += gridDim.y) {
        const From x = values[i * down + j * across];
        const bool absent = dense && x == ABSENT;
        out[i * ld + j] = absent ? infinity : static_cast<T>(x);
        const bool large = x > ZERO ? static_cast<unsigned long long>(x) > most : static_cast<long long>(x) < -most;
        if (!absent && most >= 0 && large) atomicMax(fault, static_cast<unsigned long long>(i * columns + j + 1));
    }
}

// What a matrix contains: found[0] is set for a NaN or a negative infinity, found[1] for another negative element,
// found[2] for `infinity`, found[3] for a zero off the diagonal, which row 0 has at column `diagonal`.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    survey(const T* values, long long down, long long across, int rows, int columns, int diagonal, T infinity,
           int* found) {
    const int j = blockIdx.x * THREADS + threadIdx.x;
    if (j >= columns) return;
    bool invalid = false, negative = false, infinite = false, zero = false;
    for (int i = blockIdx.y; i < rows; i += gridDim.y) {
        const T x = values[i * down + j * across];
        const bool below = x < T(0), unordered = x != x || (below && x - x != x - x);
        invalid |= unordered;
        negative |= below && !unordered;
        infinite |= x == infinity;
        zero |= x == T(0) && diagonal + i != j;
    }
    if (invalid) found[0] = 1;
    if (negative) found[1] = 1;
    if (infinite) found[2] = 1;
    if (zero) found[3] = 1;
}

// `fault` is set if an element that is reached is less than `lowest` or greater than `highest`.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    decode(T* matrix, long long ld, int rows, int columns, int* labels, long long ld_labels, int lowest, int highest,
           int unreached, int infinity, int* fault) {
    const int j = blockIdx.x * THREADS + threadIdx.x;
    if (j >= columns) return;
    for (int i = blockIdx.y; i < rows; i += gridDim.y) {
        const int x = matrix[i * ld + j];
        if (x >= unreached) {
            matrix[i * ld + j] = static_cast<T>(infinity);
            if (labels) labels[i * ld_labels + j] = NONE;
        } else if (x < lowest || x > highest) {
            *fault = 1;
        }
    }
}
