"""What NetworkX asks of mgraph: when it is imported, and in `backend` before each call.

It is a package of its own because ``import networkx`` imports it, and `mgraph.networkx` imports the engine.
"""

#: The functions of NetworkX that mgraph runs, by what decides from how many nodes on it gains time: see `gains`.
COSTS = {
    "search": (
        "single_source_shortest_path",
        "single_source_shortest_path_length",
        "single_target_shortest_path",
        "single_target_shortest_path_length",
        "predecessor",
        "bfs_edges",
        "bfs_tree",
        "bfs_predecessors",
        "bfs_successors",
        "bfs_layers",
        "generic_bfs_edges",
        "descendants_at_distance",
        "descendants",
        "ancestors",
        "connected_components",
        "number_connected_components",
        "is_connected",
        "node_connected_component",
        "weakly_connected_components",
        "number_weakly_connected_components",
        "is_weakly_connected",
    ),
    "to one": ("dijkstra_path", "dijkstra_path_length"),
    "by weight": (
        "single_source_dijkstra",
        "single_source_dijkstra_path",
        "single_source_dijkstra_path_length",
        "multi_source_dijkstra",
        "multi_source_dijkstra_path",
        "multi_source_dijkstra_path_length",
        "dijkstra_predecessor_and_distance",
        "voronoi_cells",
    ),
    "by any weight": (
        "bellman_ford_path",
        "bellman_ford_path_length",
        "single_source_bellman_ford",
        "single_source_bellman_ford_path",
        "single_source_bellman_ford_path_length",
        "bellman_ford_predecessor_and_distance",
        "goldberg_radzik",
        "negative_edge_cycle",
        "find_negative_cycle",
    ),
    "strong": (
        "strongly_connected_components",
        "number_strongly_connected_components",
        "kosaraju_strongly_connected_components",
        "condensation",
    ),
    "tree": (
        "minimum_spanning_tree",
        "minimum_spanning_edges",
        "is_strongly_connected",
    ),
    "cores": ("core_number",),
    "dense": ("floyd_warshall_numpy",),
    "paths": (
        "all_pairs_shortest_path",
        "all_pairs_dijkstra_path",
        "all_pairs_bellman_ford_path",
        "all_pairs_bellman_ford_path_length",
    ),
    "every": (
        "all_pairs_shortest_path_length",
        "bidirectional_shortest_path",
        "all_pairs_dijkstra",
        "all_pairs_dijkstra_path_length",
        "johnson",
        "bidirectional_dijkstra",
        "floyd_warshall",
        "floyd_warshall_predecessor_and_distance",
        "reconstruct_path",
        "shortest_path",
        "shortest_path_length",
        "has_path",
        "average_shortest_path_length",
        "all_shortest_paths",
        "single_source_all_shortest_paths",
        "eccentricity",
        "diameter",
        "radius",
        "center",
        "periphery",
        "closeness_centrality",
        "harmonic_centrality",
        "betweenness_centrality",
        "edge_betweenness_centrality",
        "betweenness_centrality_subset",
        "edge_betweenness_centrality_subset",
        "global_efficiency",
        "local_efficiency",
        "wiener_index",
        "transitive_closure",
    ),
}

#: All of them.
FUNCTIONS = tuple(name for names in COSTS.values() for name in names)


def information() -> dict[str, object]:
    """Return what NetworkX shows about the backend: its names, and its functions.

    Returns
    -------
    dict
        As NetworkX's entry point ``networkx.backend_info`` has it.

    Examples
    --------
    >>> import mgraph_networkx
    >>> mgraph_networkx.information()["backend_name"]
    'mgraph'
    """
    return {
        "backend_name": "mgraph",
        "project": "mgraph",
        "package": "dask-mgraph",
        "short_summary": "Shortest paths, components and trees on all cores of a CPU, or a GPU.",
        "functions": {name: {} for name in FUNCTIONS},
    }
