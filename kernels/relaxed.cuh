// Relaxation in the (min, +) algebra: the lesser of a distance d and a sum a + b.
//
// Encoding. int16 comes in pairs, two neighbours in a word.
//
// Cost. int and pairs of int16: one instruction on Hopper. float: an addition and a minimum. The least of three floats
// that are not negative is one instruction on their bits, which order as integers.

using Pair = unsigned;  // two int16

__device__ __forceinline__ float relaxed(float d, float a, float b) { return fminf(d, a + b); }
__device__ __forceinline__ double relaxed(double d, double a, double b) { double s = a + b; return s < d ? s : d; }
__device__ __forceinline__ int relaxed(int d, int a, int b) { return __viaddmin_s32(a, b, d); }
__device__ __forceinline__ Pair relaxed(Pair d, Pair a, Pair b) { return __viaddmin_s16x2(a, b, d); }

// The least of three floats that are not negative.
__device__ __forceinline__ float least(float d, float a, float b) {
    return __int_as_float(__vimin3_s32(__float_as_int(d), __float_as_int(a), __float_as_int(b)));
}
