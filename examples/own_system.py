# %% [markdown]
# # Learning your own system
#
# A plain script that reads like a notebook: run it from top to bottom, or cell by cell. Replace
# `rig` by your own experiment and the ranges by your own, and the rest stays as it is.

# %%
import numpy as np

import causalfocus as cf

# %% [markdown]
# ## The rig
#
# A reactor: the heater raises the temperature, and the temperature drives the yield. The learner
# knows none of this. It sees one sample per action, with constants and noise.

# %%
rng = np.random.default_rng(7)
hidden = cf.LinearSEM(
    weights=[[0, 0, 0], [0.8, 0, 0], [0, 0.9, 0]],
    noise_variances=[1.0, 0.8, 1.1],
    intercepts=[20.0, 4.0, -3.0],
    names=["heater", "temperature", "yield"],
)


def rig(action: cf.Action) -> dict[str, float]:
    """Perform one action and report every variable by name."""
    values = hidden.sample(action, 1, rng)[0]
    return dict(zip(hidden.names, values.tolist(), strict=True))


# %% [markdown]
# ## What can be done, and what is assumed
#
# Each variable has a range, and any number of them may be set in one round. The smallest effect
# that matters is 0.4. Nothing else is assumed but that effects are linear and add up: fair coins
# pick the ends of the ranges, so noise, drift and causes that nobody measures may be as they like.

# %%
actions = cf.ActionSet(
    {"heater": (17, 23), "temperature": (17, 23), "yield": (12, 18)}, at_once=None
)
space = cf.ModelClass(min_effect=0.4)
learner = cf.Focus(actions, space, epsilon=0.2, delta=0.05)

# %% [markdown]
# ## The loop

# %%
while not learner.decision.stop:
    action = learner.ask()
    learner.tell(action, rig(action))

# %% [markdown]
# ## The result

# %%
result = learner.result()
print(f"Certified after {result.rounds} rounds.")
print(result.model.equations())
for interval in result.intervals:
    print(f"{interval.cause} -> {interval.effect}: {interval.low:.2f} to {interval.high:.2f}")

# %% [markdown]
# Every pair has an interval and a verdict, at any moment, not only at the end.

# %%
print(learner.effects())
