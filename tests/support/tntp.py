"""Small networks of TNTP, written as files."""

HEAD = "init_node term_node capacity length free_flow_time b power speed toll link_type"


def network_text(links, nodes, zones, first_through=1):
    """Return a file of links: tuples of tail, head, capacity, length, free-flow time, b, power and toll."""
    lines = [
        f"<NUMBER OF ZONES> {zones}",
        f"<NUMBER OF NODES> {nodes}",
        f"<FIRST THRU NODE> {first_through}",
        f"<NUMBER OF LINKS> {len(links)}",
        "<END OF METADATA>",
        "",
        f"~ {HEAD} ;",
    ]
    for tail, head, capacity, length, time, b, power, toll in links:
        lines.append(f"\t{tail}\t{head}\t{capacity}\t{length}\t{time}\t{b}\t{power}\t0\t{toll}\t1\t;")
    return "\n".join(lines) + "\n"


def trips_text(demand):
    """Return a file of trips: a matrix of amounts."""
    lines = [f"<NUMBER OF ZONES> {len(demand)}", f"<TOTAL OD FLOW> {sum(map(sum, demand))}", "<END OF METADATA>", ""]
    for origin, row in enumerate(demand, start=1):
        lines.append(f"Origin {origin}")
        lines.append("".join(f" {to} : {amount:.4f};" for to, amount in enumerate(row, start=1)))
    return "\n".join(lines) + "\n"


#: Braess's network, from 1 to 4: six travellers, of whom each third takes one of three routes, which then cost 92.
BRAESS = [
    (1, 2, 1, 3, 1e-9, 1e10, 1, 0),
    (1, 3, 1, 1, 50, 0.02, 1, 0),
    (2, 4, 1, 1, 50, 0.02, 1, 0),
    (3, 4, 1, 3, 1e-9, 1e10, 1, 0),
    (2, 3, 1, 1, 10, 0.1, 1, 0),
]
