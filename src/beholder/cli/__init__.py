"""The command line: one small file a command, each imported only when it is called."""
