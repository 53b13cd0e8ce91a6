"""A first look at an installed package: decide, learn, solve, simulate, and say where it is."""

from importlib.metadata import version

import evenhand
from evenhand import Agent, Environment, Problem, find_optimum, simulate

problem = Problem(["news", "sport", "arts"], plays=1, floors=[0.2, 0.3, 0.0])
agent = Agent(problem, seed=7)
for _ in range(300):
    decision = agent.ask()
    agent.tell(decision.id, {arm: float(arm == "arts") for arm in decision.chosen})
assert agent.rates()["sport"] >= 0.29
assert Agent.restore(agent.snapshot()).ask().chosen == agent.ask().chosen

nature = Environment(problem, means=[0.2, 0.5, 0.9], availability=0.9)
assert find_optimum(nature).with_floors > 0.5
results = simulate(nature, ["priced"], horizon=300, engine="reference", progress=False)
assert results.worst_shortfall("priced").mean < 0.02
print(version("evenhand"), evenhand.__file__)
