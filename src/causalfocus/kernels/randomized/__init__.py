"""The rule that bets on coins: sums, stakes, and the rows that the tests leave."""
