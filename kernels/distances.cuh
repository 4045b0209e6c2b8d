// Sums and minima of distances, of float, double and int. Needs warp.cuh.
//
// Encoding. Infinity is that of infinity.cuh; a sum of int below -2^30 is taken for -2^30. The minimum of floats is
// taken by integer atomics: those that are not negative are ordered as their bits, negative ones the other way round.

// CuPy compiles with -ftz, which flushes tiny sums to a zero with their sign. Adding zero removes the sign.
__device__ __forceinline__ float sum(float a, float b) { return (a + b) + 0.0f; }
__device__ __forceinline__ double sum(double a, double b) { return a + b; }
__device__ __forceinline__ int sum(int a, int b) { return max(a + b, -(1 << 30)); }

// *at = min(*at, x), where x is not -0.0.
__device__ __forceinline__ void lower(int* at, int x) { atomicMin(at, x); }
__device__ __forceinline__ void lower(float* at, float x) {
    if (x >= 0)
        atomicMin(reinterpret_cast<int*>(at), __float_as_int(x));
    else
        atomicMax(reinterpret_cast<unsigned*>(at), __float_as_uint(x));
}
__device__ __forceinline__ void lower(double* at, double x) {
    if (x >= 0)
        atomicMin(reinterpret_cast<long long*>(at), __double_as_longlong(x));
    else
        atomicMax(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(__double_as_longlong(x)));
}

// The least of a warp's values.
template <typename T> __device__ __forceinline__ T least_of(T x) {
    for (int step = 16; step; step /= 2) {
        const T other = __shfl_xor_sync(ALL, x, step);
        x = other < x ? other : x;
    }
    return x;
}
