"""Whether what is installed here will work, and a store and a site with it; no module here needs more than the standard library to be imported."""
