"""What tests share: parameters, devices, clusters, commands, graphs and references. No test stands here."""
