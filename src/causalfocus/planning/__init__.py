"""Before the first round: how hard a system is, and how many rounds it will take."""
