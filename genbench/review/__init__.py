"""Reviews: what people say of stored samples, and the scores that they correct."""
