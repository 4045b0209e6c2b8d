// What the GPUs of a host share, and the barrier across them within a kernel.
//
// Each GPU has one shared space, which all others have opened: a header, then arrays. A table in its own memory tells a
// kernel where the spaces are. At a barrier a GPU writes the barrier's number into the space of every other (release at
// system scope), and waits until every other has written it into its own (acquire at system scope). What any thread of
// a GPU wrote before, to whichever memory, is then seen by all threads of the others.
//
// No wait is without an end. A GPU that waits reads a word of the host's memory, which the host sets to end a call, and
// looks at the clock, which ends the wait where there is no host any more. Then the header says that the wait failed,
// all blocks learn it behind the barrier, and no later barrier waits. All GPUs must make the same barriers.
//
// Needs grid.cuh, and a cooperative launch.

constexpr int PEERS_FLAG_WORDS = 32;   // a line of cache for each GPU's flag
constexpr int PEERS_NUMBER = 1000;     // word of the header: barriers made so far
constexpr int PEERS_FAILED = 1001;     // word of the header: whether a wait was ended
constexpr int PEERS_HEADER = 1024;     // words

struct Peers {
    unsigned long long rank, size;
    const volatile unsigned* abort;    // in the host's memory
    unsigned long long nanoseconds;    // that a barrier may take
    unsigned* spaces[8];

    __device__ __forceinline__ unsigned* data(int gpu) const { return spaces[gpu] + PEERS_HEADER; }
};

__device__ __forceinline__ unsigned long long nanoseconds_now() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// Wait for all blocks of all GPUs. Return whether all came.
__device__ __forceinline__ bool peer_barrier(const Peers* peers, unsigned* arrived) {
    unsigned* const own = peers->spaces[peers->rank];
    grid_barrier(arrived);
    if (blockIdx.x == 0 && threadIdx.x < 32) {
        const int other = threadIdx.x;
        const unsigned number = own[PEERS_NUMBER] + 1;
        bool failed = own[PEERS_FAILED];
        if (other < peers->size && other != peers->rank) {
            unsigned* const there = peers->spaces[other] + peers->rank * PEERS_FLAG_WORDS;
            const unsigned* const here = own + other * PEERS_FLAG_WORDS;
            __threadfence_system();
            asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(there), "r"(number) : "memory");
            const unsigned long long start = nanoseconds_now();
            for (unsigned look = 1; !failed; ++look) {
                unsigned seen;
                asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(here) : "memory");
                if (static_cast<int>(seen - number) >= 0) break;
                if (look % 64 == 0) failed = *peers->abort || nanoseconds_now() - start > peers->nanoseconds;
            }
        }
        failed = __any_sync(0xffffffffu, failed);
        if (threadIdx.x == 0) own[PEERS_NUMBER] = number, own[PEERS_FAILED] = failed;
        __threadfence_system();
    }
    grid_barrier(arrived);
    return !__ldcg(own + PEERS_FAILED);
}
