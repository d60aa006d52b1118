"""The methods of the experiments, one module each, which is loaded by its name: so the results of
one do not depend on the code of the others.

Each has `learner_for(specification, actions, number)`; those that are run on to their certificate
have `watch_for(specification, actions, truth)` too.
"""
