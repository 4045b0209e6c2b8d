// The value of infinity while distances are summed: `kernel_infinity` of mgraph/dtypes.py, for each type of sums.

template <typename T> __device__ __forceinline__ T infinity();
template <> __device__ __forceinline__ float infinity<float>() { return __int_as_float(0x7f800000); }
template <> __device__ __forceinline__ double infinity<double>() { return __longlong_as_double(0x7ff0000000000000LL); }
template <> __device__ __forceinline__ int infinity<int>() { return (1 << 30) - 1; }
