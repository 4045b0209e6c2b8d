// Shortest paths (sssp.cu): what the blocks of a cooperative launch exchange, and how the bound is raised.
//
// A phase is the time between two grid-wide barriers. Its results are summed in a record by atomics, which all blocks
// read behind the barrier. Needs distances.cuh, grid.cuh and infinity.cuh.

constexpr int THREADS = 1024, WARPS = THREADS / 32;
constexpr int LITTLE = 1 << 18, FEW = 16;  // edges that are little to do between two raises, rounds that are few

template <typename T> __device__ __forceinline__ T raised(T from, T window) {
    return sum(from, window) < infinity<T>() ? sum(from, window) : infinity<T>();
}

// How the bound is raised: from `origin`, by `window`. `since` is the round in which the bound was set, `edges` counts
// the edges of the rounds from then on, exact while they are few, and `before` says whether the window before had
// little to do.
template <typename T> struct Pace {
    T origin, window;
    int since;
    unsigned edges;
    bool before;

    // Atomic, although one thread writes: otherwise the compiler lets all threads load the sum.
    __device__ __forceinline__ void add(unsigned more) { atomicAdd(&edges, min(more, static_cast<unsigned>(LITTLE))); }
    // The bound was raised in `round`; the next time it is raised from `from`. The first window was `least`.
    __device__ __forceinline__ void turn(int round, T from, T least) {
        const bool little = round - since < FEW && edges < LITTLE;
        origin = from;
        if (little && before) window = raised(window, window);
        if (!little) window = window / 2 > least ? window / 2 : least;
        since = round;
        edges = 0;
        before = little;
    }
};

// What the blocks exchange in a phase, the time between two grid-wide barriers.
template <typename T> struct Phase {
    int near = 0, far = 0;         // vertices appended to the piles, or counted
    int pieces = 0;                // of hubs
    int round = 0, turned = 0;     // reached by the one block of a thin stretch, and whether its far pile changed sides
    int lost = 0;                  // whether another GPU did not come to an exchange
    unsigned long long edges = 0;  // out of the vertices appended to the near pile
    T bound = 0;                   // after a thin stretch,
    Pace<T> pace{};                // and how it is raised
    T least = infinity<T>();       // distance of those that are not near
};

// Three records in turn: one is read, one written, one cleared. What stands before them outlives a launch. The host
// reads `round`: if fewer rounds ran than requested, the search is finished.
template <typename T> struct Control {
    unsigned arrived;
    int round;
    int near, far, side;  // sizes of the piles, and which half of its array the far one is in
    int elsewhere;        // of several GPUs: vertices in the far piles of the others,
    int lost;             // whether another GPU did not come to an exchange,
    int exchange;         // how far the one after a thin stretch has come,
    unsigned number;      // and its number
    int unused[3];
    Phase<T> phases[3];
};
static_assert(sizeof(Control<double>) <= 320, "the host makes room for 80 words");

template <typename T> class Phases {
    Control<T>* const control;
    int number = 0;

  public:
    __device__ __forceinline__ explicit Phases(Control<T>* control) : control(control) {
        if (blockIdx.x == 0 && threadIdx.x == 0) control->phases[0] = Phase<T>{};
        grid_barrier(&control->arrived);
    }
    __device__ __forceinline__ Phase<T>* record() const { return control->phases + number % 3; }
    __device__ __forceinline__ void begin() const {
        if (blockIdx.x == 0 && threadIdx.x == 0) control->phases[(number + 1) % 3] = Phase<T>{};
    }
    __device__ __forceinline__ Phase<T> end() {  // what all blocks did in this phase
        grid_barrier(&control->arrived);
        return control->phases[number++ % 3];
    }
};
