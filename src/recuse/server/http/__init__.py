"""The HTTP door: a JSON interface under /api/v1, described by OpenAPI."""
