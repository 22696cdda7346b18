"""What tests share: builders, sample files, and the places of things."""
