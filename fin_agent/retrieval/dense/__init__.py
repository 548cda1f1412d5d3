"""Dense and learned sparse vectors of texts, and exact search among them. Needs the extra `dense`."""
