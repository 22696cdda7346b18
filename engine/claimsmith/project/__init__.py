"""Files on disk: a project, its settings, its git revisions and its workspace."""
