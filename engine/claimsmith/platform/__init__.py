"""What a platform offers: the catalog of its classes, and which claim is bound to which class."""
