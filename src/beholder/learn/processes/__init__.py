"""Several processes that train one model: launching, devices, sharding, and what is shared between them."""
