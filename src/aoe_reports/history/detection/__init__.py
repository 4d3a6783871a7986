"""The parts of the detector: candidates, levels and their noise, proof, and what is reported of what is proved."""
