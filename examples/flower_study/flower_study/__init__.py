"""A private study between parties, carried by Flower."""
