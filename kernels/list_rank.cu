// List ranking: the distance of each element of a linked list from the last one, by random splitters or by jumping.
//
// Algorithm. The array of n elements is divided into strata of 2^shift. A hash picks one element of each stratum as a
// splitter (Helman and JaJa 1999; Yogaratnam 2010 on GPUs). `walk` follows the list from each splitter to the next
// one, or to the last element. At each element on the way it stores the splitter and the number of steps from there.
// The splitters then form a shorter list, `chain`, whose weights are the steps between them. `jump` ranks the chain:
// each element adds the distance of the one it points to, and then points where that one points (Wyllie 1979). All
// rounds run in one cooperative launch. `aggregate` subtracts an element's steps from the distance of its splitter.
//
// No walk passes the elements before the first splitter of a list. `sift` lists these. If they are few, they are
// ranked as a list of their own: `number`, `follow` and `relink` make it, `jump` ranks it, and `enter` writes the
// ranks back. Otherwise `mark` marks the elements that one of them points to. `complete` walks from each unmarked one
// to the first known rank, and walks again to write the ranks. Wyllie's method is `link` and `jump` on the elements
// themselves.
//
// Splitters are computed, not stored: the number of a splitter is i >> shift, its place a hash of that number. So a
// hop reads one word and writes one word, and needs no list or bitmap of splitters.
//
// Encoding. A word of 64 bits holds a number and a distance, 32 bits each. In a chain these are the next element and
// the distance to it, or END and the distance to the last element where that is known. At an element they are its
// splitter and the steps from it. 48 bits suffice for these, so they may also be stored apart, as `owners` and
// `steps`. The owner END, all bits set, means that no walk has passed. Ranks have the type of the elements; -1 means
// unknown. While a short list of elements without a rank is ranked, element number k of it has the rank -2 - k.
//
// Races. Where several elements share a successor, walks overlap. Packed words are written at once, so each is right,
// whichever is written last. Separate words may be mixed; the count of steps, control[WALKED], reveals this.
//
// Ends. On a random list a walk is longer than PATIENCE strata with a probability of exp(-PATIENCE). A longer walk may
// be on a cycle: it stops, sets control[TANGLED], and no further walk starts. The words of the chain that were not
// written keep their initial value, all bits set, which is an end. A cycle with a splitter leaves its chain open after
// all rounds. A cycle without a splitter leaves elements that no walk reaches, or leaves their own list open. A
// successor that is not an element is noticed where it is first read, before it is used as an index: a walk stops
// there too, `sift` sets the same flag for the elements that it lists, and `link` lets the element point to itself,
// which stays open. So the time is bounded for any input, and the caller must check the flag and the open ends.
//
// Cost. n + n / 2^shift log n operations. A hop is a random read, which the next hop waits for, and a random write,
// which nothing waits for. `aggregate` streams, except for a read of the chain, which should stay in the L2. Jumping
// on all elements takes n log n random reads.

#include "bitmap.cuh"
#include "grid.cuh"

constexpr int THREADS = 256, JUMPERS = 1024;
constexpr int PATIENCE = 64;
constexpr unsigned END = 0xffffffffu;

enum Control { CLAIMED = 0, TANGLED = 1, WALKED = 2, UNRANKED = 3 };

using Word = unsigned long long;

__device__ __forceinline__ Word word(unsigned next, unsigned distance) {
    return static_cast<Word>(next) << 32 | distance;
}

// Words that other threads may be writing: each is read and written whole.
__device__ __forceinline__ Word load(const Word* address) {
    Word value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ void store(Word* address, Word value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

// Whether a successor is an element. A negative number is a large one without a sign.
__device__ __forceinline__ bool exists(int i, int n) { return static_cast<unsigned>(i) < static_cast<unsigned>(n); }
__device__ __forceinline__ bool exists(long long i, long long n) { return static_cast<Word>(i) < static_cast<Word>(n); }

__device__ __forceinline__ bool raised(const Word* control, int flag) {
    return load(control + flag) != 0;
}

// The splitters: one in each stratum of 2^shift elements, where the finaliser of MurmurHash3 puts it.
template <typename Index> struct Splitters {
    Index n;
    int shift;

    __device__ __forceinline__ unsigned stratum(Index i) const { return static_cast<unsigned>(i >> shift); }

    __device__ __forceinline__ Index place(unsigned stratum) const {
        unsigned x = stratum;
        x = (x ^ x >> 16) * 0x85ebca6bu;
        x = (x ^ x >> 13) * 0xc2b2ae35u;
        x ^= x >> 16;
        const Index base = static_cast<Index>(stratum) << shift;
        const Index picked = base + static_cast<Index>(x & ((1u << shift) - 1));
        return picked < n ? picked : base;  // the last stratum may be shorter
    }

    __device__ __forceinline__ bool contains(Index i) const { return i == place(stratum(i)); }
};

__device__ __forceinline__ long long own_element() {
    return static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
}

// Walk from the splitters of the strata first to last - 1, a lane a walk. A lane whose walk has ended takes the next
// stratum that is not taken, in the same loop, so that a long walk does not delay others. Owner is Word for packed
// words, unsigned with the steps apart.
template <typename Index, typename Owner>
__global__ void __launch_bounds__(THREADS, 8)
    walk(const Index* __restrict__ succ, Index n, int shift, unsigned first, unsigned last, Owner* owners,
         unsigned short* steps, Word* chain, Word* control) {
    const Splitters<Index> splitters{n, shift};
    const unsigned longest = static_cast<unsigned>(PATIENCE) << shift;  // elements of a walk
    const Word count = last - first;
    auto claim = [&]() { return raised(control, TANGLED) ? count : atomicAdd(control + CLAIMED, 1ull); };

    Word taken = claim(), walked = 0;
    unsigned own = first + static_cast<unsigned>(taken), distance = 0;
    Index i = taken < count ? splitters.place(own) : 0;
    while (taken < count) {
        if constexpr (sizeof(Owner) == sizeof(Word)) {
            store(owners + i, word(own, distance));
        } else {
            owners[i] = own;
            steps[i] = static_cast<unsigned short>(distance);
        }
        const Index next = succ[i];
        const bool ends = next == i, lost = !exists(next, n), arrives = !lost && splitters.contains(next);
        ++distance;
        if (ends || arrives || lost || distance == longest) {
            if (ends)
                chain[own] = word(END, distance - 1);
            else if (arrives)
                chain[own] = word(splitters.stratum(next), distance);
            else
                store(control + TANGLED, 1);
            walked += distance;
            taken = claim();
            if (taken < count) {
                own = first + static_cast<unsigned>(taken);
                i = splitters.place(own);
                distance = 0;
            }
        } else {
            i = next;
        }
    }
    if (walked) atomicAdd(control + WALKED, walked);
}

// The chain of the elements first to last - 1 themselves.
template <typename Index>
__global__ void __launch_bounds__(THREADS) link(const Index* __restrict__ succ, Index n, Word* chain) {
    const long long i = own_element();
    if (i >= n) return;
    const Index next = succ[i];
    chain[i] = next == i ? word(END, 0) : word(static_cast<unsigned>(exists(next, n) ? next : i), 1);
}

// Rounds `round` to `end` - 1, in which each word of a chain from first to last adds the one it points to, in place.
// If another thread has already advanced that word, the link reaches farther. So round k, from 0, leaves no word open
// within 2^(k + 1) links of the end. open[k] is set if any word is open; otherwise later rounds have nothing to do. A
// cooperative launch.
__global__ void __launch_bounds__(JUMPERS, 2)
    jump(Word* chain, Word first, Word last, int round, int end, unsigned* open, unsigned* arrived) {
    if (round > 0 && !open[round - 1]) return;
    for (;;) {
        bool still = false;
        for (Word i = first + blockIdx.x * JUMPERS + threadIdx.x; i < last; i += gridDim.x * JUMPERS) {
            const Word mine = load(chain + i);
            const unsigned next = static_cast<unsigned>(mine >> 32);
            if (next == END) continue;
            const Word there = load(chain + next);
            const unsigned beyond = static_cast<unsigned>(there >> 32);
            store(chain + i, word(beyond, static_cast<unsigned>(mine) + static_cast<unsigned>(there)));
            still |= beyond != END;
        }
        if (__syncthreads_or(still) && threadIdx.x == 0) open[round] = 1;
        if (round + 1 == end) return;
        grid_barrier(arrived);
        if (!__ldcg(open + round)) return;
        ++round;
    }
}

// The rank of each element that a walk has passed, -1 elsewhere.
template <typename Index, typename Owner>
__global__ void __launch_bounds__(THREADS)
    aggregate(const Owner* __restrict__ owners, const unsigned short* __restrict__ steps,
              const Word* __restrict__ chain, Index n, Index* ranks) {
    const long long i = own_element();
    if (i >= n) return;
    unsigned owner, distance;
    if constexpr (sizeof(Owner) == sizeof(Word)) {
        owner = static_cast<unsigned>(owners[i] >> 32), distance = static_cast<unsigned>(owners[i]);
    } else {
        owner = owners[i], distance = steps[i];
    }
    ranks[i] = owner == END ? -1 : static_cast<Index>(static_cast<unsigned>(chain[owner]) - distance);
}

// Count the elements without a rank, and list them, in any order, if there is room; the first of the ranks is that of
// element `first`. No walk has read their successors.
template <typename Index>
__global__ void __launch_bounds__(THREADS)
    sift(const Index* __restrict__ succ, Index n, const Index* __restrict__ ranks, Index first, Index count,
         Index* unranked, Word room, Word* control) {
    __shared__ Word begin;
    __shared__ unsigned taken;
    const long long i = own_element();
    const bool found = i < count && ranks[i] < 0;
    const int together = __syncthreads_count(found);
    if (!together) return;
    if (threadIdx.x == 0) {
        begin = atomicAdd(control + UNRANKED, static_cast<Word>(together));
        taken = 0;
    }
    __syncthreads();
    if (!found) return;
    if (!exists(succ[first + i], n)) store(control + TANGLED, 1);
    const Word place = begin + atomicAdd(&taken, 1u);
    if (place < room) unranked[place] = first + static_cast<Index>(i);
}

// Give each element without a rank its number among them, in place of the rank.
template <typename Index>
__global__ void __launch_bounds__(THREADS) number(const Index* __restrict__ elements, Index count, Index* ranks) {
    const long long k = own_element();
    if (k < count) ranks[elements[k]] = static_cast<Index>(-2 - k);
}

// The rank, or the number, of the successor of each of these elements; -1 behind a last element, and for what another
// shard has ranked.
template <typename Index>
__global__ void __launch_bounds__(THREADS)
    follow(const Index* __restrict__ succ, const Index* __restrict__ elements, Index count,
           const Index* __restrict__ ranks, Index* beyond) {
    const long long k = own_element();
    if (k >= count) return;
    const Index next = succ[elements[k]];
    beyond[k] = next == elements[k] ? -1 : ranks[next];
}

// Their chain, which ends where a successor has a rank.
template <typename Index>
__global__ void __launch_bounds__(THREADS) relink(const Index* __restrict__ beyond, Index count, Word* chain) {
    const long long k = own_element();
    if (k >= count) return;
    const Index there = beyond[k];
    chain[k] = there < -1 ? word(static_cast<unsigned>(-2 - there), 1) : word(END, static_cast<unsigned>(there + 1));
}

// Write the distances of their chain as ranks.
template <typename Index>
__global__ void __launch_bounds__(THREADS)
    enter(const Word* __restrict__ chain, const Index* __restrict__ elements, Index count, Index* ranks) {
    const long long k = own_element();
    if (k < count) ranks[elements[k]] = static_cast<Index>(static_cast<unsigned>(chain[k]));
}

// Mark in a bitmap the successors of elements without a rank: the first elements of lists stay unmarked.
template <typename Index>
__global__ void __launch_bounds__(THREADS)
    mark(const Index* __restrict__ succ, const Index* __restrict__ ranks, Index n, unsigned* marks) {
    const long long i = own_element();
    if (i >= n || ranks[i] >= 0) return;
    const Index next = succ[i];
    if (next != i) set_bit(marks, next);
}

// Rank what lies between an unmarked element and the first rank on its way. Where walks meet, the second one
// finds the ranks that it would write.
template <typename Index>
__global__ void __launch_bounds__(THREADS)
    complete(const Index* __restrict__ succ, Index n, int shift, const unsigned* __restrict__ marks,
             volatile Index* ranks, Word* control) {
    const long long head = own_element();
    if (head >= n || ranks[head] >= 0 || has_bit(marks, head) || raised(control, TANGLED)) return;
    const int longest = PATIENCE << shift;
    Index at = static_cast<Index>(head), rank;
    int distance = 0;
    while ((rank = ranks[at]) < 0) {
        const Index next = succ[at];
        if (next == at) {
            rank = 0;
            break;
        }
        if (++distance > longest) {
            store(control + TANGLED, 1);
            return;
        }
        at = next;
    }
    rank += distance;
    at = static_cast<Index>(head);
    for (; distance >= 0; --distance, --rank) {
        ranks[at] = rank;
        at = succ[at];
    }
}
