"""What the commands do, a folder or a module each."""
