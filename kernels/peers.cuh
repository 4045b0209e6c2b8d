// What the GPUs of a host share, and how they exchange messages and lists from within a kernel.
//
// Each GPU has one shared space, which all others have opened. A table in its own memory tells a kernel where the spaces
// are. A space begins with a header, in which each other GPU has two mails of up to 16 words of 64 bits. Two lists from
// each GPU follow, and then data of the kernel's own. A word of a mail has the number of the exchange in its upper half,
// and what is sent in its lower. Exchange number k uses the first mail if k is even and the second if it is odd, and so
// the lists and the data. A GPU sends mail number k + 1 only once it has used what came with mail number k, and waits
// for mail number k + 1 of all others before it writes anything with number k + 2. So nothing is overwritten before it is
// read, and no other barrier is needed. If mail number k + 1 announces a list, no fence goes with it; a barrier of its GPU
// stands between the reads of data number k, whose values have been used by then, and the mail.
//
// An entry of a list has the number of its exchange in its upper half, too. So the reader sees by itself whether it has
// arrived, and needs no fence (the protocol "LL" of NCCL). Whichever kernel runs, nothing without a number is ever written
// where lists are, or it could be taken for an entry. Other data is announced by UNNUMBERED in word 0 of the mail. A
// barrier orders the writes of all threads before the mail; the thread that sends word 0 makes a fence at system scope
// before it, the thread that waits for word 0 makes one behind it, and the barrier of its block orders the reads of the
// other threads behind that (PTX's memory model: causality order takes barriers and fences together).
//
// Numbers start at 1, since memory is cleared at first. They must not come round: `close_peers` tells the host the last
// one, and the host opens new spaces when half of the range is used.
//
// No wait is without an end. A thread that has waited for long reads a word of the host's memory, which the host sets to
// end a call, and looks at the clock, which ends the wait where there is no host any more. It does so seldom: the link to
// the host takes such reads one by one, a microsecond each, so that 132 blocks which read at once lose 125 us (H200).
// All GPUs must make the same exchanges.

constexpr int MOST_PEERS = 8;
constexpr int PEERS_MAIL = 16;                                          // words of 64 bits between two mails: a line
constexpr int PEERS_MADE = 2 * MOST_PEERS * PEERS_MAIL;                 // the number of exchanges made so far
constexpr int PEERS_HEADER = PEERS_MADE + PEERS_MAIL;                   // words of 64 bits
constexpr int PEERS_LIST = 1 << 16;                                     // words of 64 bits of a list
constexpr unsigned HOST_EVERY = 1 << 14;                                // looks between those at the host: some ms
constexpr unsigned UNNUMBERED = 0x80000000u;                            // in word 0 of a mail: there is data, no list

struct Peers {
    unsigned long long rank, size;
    volatile unsigned* host;  // memory of the host: whether a call is to end, and the number of exchanges made so far
    unsigned long long patience, first_patience;  // nanoseconds that a wait may take, and the first one of a launch
    unsigned long long* spaces[MOST_PEERS];

    // The list and the data of a GPU for an exchange. `words` of 32 bits, a multiple of 4, are one half of the data.
    __device__ __forceinline__ unsigned long long* list(int of, int from, unsigned number) const {
        return spaces[of] + PEERS_HEADER + ((number & 1) * size + from) * PEERS_LIST;
    }
    __device__ __forceinline__ unsigned* data(int of, unsigned number, size_t words) const {
        return reinterpret_cast<unsigned*>(spaces[of] + PEERS_HEADER + 2 * size * PEERS_LIST) + (number & 1) * words;
    }
    __device__ __forceinline__ unsigned long long* mail(int of, int from, unsigned number) const {
        return spaces[of] + ((number & 1) * MOST_PEERS + from) * PEERS_MAIL;
    }
};

__device__ __forceinline__ unsigned long long nanoseconds_now() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__device__ __forceinline__ void put_numbered(unsigned long long* to, unsigned number, unsigned word) {
    const unsigned long long both = static_cast<unsigned long long>(number) << 32 | word;
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(both) : "memory");
}

// Wait until `from` has the number, and set the word. Return whether it came.
__device__ __forceinline__ bool get_numbered(const Peers& peers, const unsigned long long* from, unsigned number,
                                             unsigned long long patience, unsigned& word) {
    unsigned long long start = 0;
    for (unsigned look = 1;; ++look) {
        unsigned long long both;
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(both) : "l"(from) : "memory");
        if (static_cast<unsigned>(both >> 32) == number) {
            word = static_cast<unsigned>(both);
            return true;
        }
        if (look % HOST_EVERY) continue;
        if (peers.host[0]) return false;
        const unsigned long long now = nanoseconds_now();
        if (!start) start = now;
        if (now - start > patience) return false;
    }
}

__device__ __forceinline__ void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

// Send all others a word; by the first lanes of one warp.
__device__ __forceinline__ void send_mail(const Peers& peers, unsigned number, unsigned word) {
    const int other = threadIdx.x % 32;
    if (word & UNNUMBERED) fence_system();
    if (other < peers.size && other != peers.rank) put_numbered(peers.mail(other, peers.rank, number), number, word);
}

// Send all others some words, at most PEERS_MAIL, which are in shared memory; by one warp.
__device__ __forceinline__ void send_mail(const Peers& peers, unsigned number, const unsigned* words, int count) {
    if (words[0] & UNNUMBERED) fence_system();
    for (int i = threadIdx.x % 32; i < peers.size * count; i += 32) {
        const int other = i / count, word = i % count;
        if (other != peers.rank) put_numbered(peers.mail(other, peers.rank, number) + word, number, words[word]);
    }
}

// Copy the table to a block's shared memory, by all of its threads; return the number of the last exchange.
__device__ __forceinline__ unsigned open_peers(const Peers* table, Peers& peers) {
    if (threadIdx.x < sizeof(Peers) / 8)
        reinterpret_cast<unsigned long long*>(&peers)[threadIdx.x] =
            reinterpret_cast<const unsigned long long*>(table)[threadIdx.x];
    __syncthreads();
    return static_cast<unsigned>(peers.spaces[peers.rank][PEERS_MADE]);
}

// Keep the number of the last exchange, for the next launch and for the host; by one thread at the end of a launch.
__device__ __forceinline__ void close_peers(const Peers& peers, unsigned number) {
    peers.spaces[peers.rank][PEERS_MADE] = number;
    peers.host[1] = number;
}

// Wait for the others' mails of WORDS words each, by all threads of a block; return whether they came. The own mail is
// in its place of `mails` already, and is seen by all threads afterwards.
template <int WORDS>
__device__ __forceinline__ bool get_mails(const Peers& peers, unsigned number, bool first, unsigned (*mails)[WORDS]) {
    bool failed = false;
    const int gpu = threadIdx.x / WORDS, word = threadIdx.x % WORDS;
    if (gpu < peers.size && gpu != peers.rank) {
        failed = !get_numbered(peers, peers.mail(peers.rank, gpu, number) + word, number,
                               first ? peers.first_patience : peers.patience, mails[gpu][word]);
        if (word == 0 && mails[gpu][0] & UNNUMBERED) fence_system();
    }
    return !__syncthreads_or(failed);
}
