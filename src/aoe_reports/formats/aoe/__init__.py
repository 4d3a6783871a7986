"""What the Ascend Optimization Engine writes: results and banks."""
