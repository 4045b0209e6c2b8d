"""Running programs superstep by superstep, on one device or on Dask workers."""
