// Asynchronous copy of 16 bytes from global to shared memory, past registers and the L1 cache (Ampere and later).
//
// The copies between two cp.async.commit_group form a group; cp.async.wait_group waits for a thread's own groups.

__device__ __forceinline__ void copy_async(void* to, const void* from) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}
