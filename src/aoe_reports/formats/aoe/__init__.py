"""What the Ascend Optimization Engine writes: results and gradient banks."""
