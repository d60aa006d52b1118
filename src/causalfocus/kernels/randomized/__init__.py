"""The rule that bets on coins: sums, plans of tests, and the rows that the tests leave."""
