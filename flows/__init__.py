"""What a user runs and schedules: one flow a study, and the command line."""
