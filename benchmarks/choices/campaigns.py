"""The tasks, the methods, and one campaign of a method on a task as a job for tables/jobs.py.

A method of the program is a name of `--acquisition`, or `default` for the program's own choice. `NAME+aim` is NAME with
`--aim test` on the robots, whose pool lies apart from their test rows; on other tasks it is NAME itself.
A peer has a model of its own, so its baseline is the same model with rows at random.
"""

from dataclasses import dataclass

from tables import campaigns, data

BATCH = campaigns.BATCH
TABLES = ("diamonds", "concrete", "ames", "sacramento", "diabetes", "friedman1")
PROBLEM_ROUNDS = {"hetero": 10, "bimodal": 10, "pendulum": 15, "hopper": 15, "ant": 10, "humanoid": 5}
ROBOTS = ("pendulum", "hopper", "ant", "humanoid")
TASKS = (*TABLES, *PROBLEM_ROUNDS)
COLUMNS = (("task", "seed", "label", "method", "round"), ("labelled", "rmse", "log_likelihood", "seconds"))
PEER_LABEL = "peer"
AIM = "+aim"


def forest_round(x, y, pool_x, seed, random, by_variance):
    """A predictor, and the rows to label: at random, or those of the highest variance between trees."""
    from tables.peers import forest_out_of_bag
    forest = forest_out_of_bag(x, y, seed)
    rows = random.choice(len(pool_x), min(len(pool_x), campaigns.CANDIDATES), replace=False)
    if by_variance:
        rows = rows[(-forest.spread(pool_x[rows])).argsort(kind="stable")]
    return forest.gaussian(), rows[:BATCH]


PEER_STEPS = {
    "gp-random": campaigns.STEPS["gp-random"],
    "gp-variance": campaigns.STEPS["gp-variance"],
    "forest-random": lambda *rows: forest_round(*rows, by_variance=False),
    "forest-variance": lambda *rows: forest_round(*rows, by_variance=True),
    "bmdal-random": lambda *rows: campaigns.lcmd_round(*rows, by_lcmd=False),
    "bmdal-lcmd": campaigns.STEPS["lcmd"],
}
PEER_BASELINES = {"gp-variance": "gp-random", "forest-variance": "forest-random", "bmdal-lcmd": "bmdal-random"}


def num_models(task):
    """The first model, and one after each round's rows."""
    return campaigns.ROUNDS if task in TABLES else PROBLEM_ROUNDS[task] + 1


def baseline(method):
    return PEER_BASELINES.get(method, "random")


def runs_as(method, task):
    """The method whose name the campaign has in the cache."""
    return method if task in ROBOTS else method.removesuffix(AIM)


def can_run(method, task):
    return method not in PEER_STEPS or task in TABLES


def with_baselines(methods):
    """The methods, each after its baseline, without duplicates."""
    return list(dict.fromkeys(name for method in methods for name in (baseline(method), method)
                              if method not in PEER_BASELINES.values()))


def learn_options(method):
    """Options of `dissent learn` that make the choice."""
    name = method.removesuffix(AIM)
    return [*([] if name == "default" else ["--acquisition", name]), *(["--aim", "test"] if name != method else [])]


@dataclass(frozen=True)
class Campaign:
    task: str
    seed: int
    label: str
    method: str
    program: object  # None for a peer

    @property
    def keys(self):
        return [(self.task, str(self.seed), self.label, self.method, str(number))
                for number in range(1, num_models(self.task) + 1)]

    def run(self, folder):
        """Dicts of results, one for each model."""
        options = learn_options(self.method)
        if self.task not in TABLES:
            return self.program.problem(self.task, self.seed, BATCH, PROBLEM_ROUNDS[self.task], *options)
        split = data.split(folder, self.task, self.seed)
        if not self.program:
            return campaigns.campaign(PEER_STEPS[self.method], split.train, split.test, self.seed)
        return self.program.campaign(split.names, split.train, split.test, self.seed, campaigns.FIRST, BATCH,
                                     campaigns.ROUNDS - 1, *options)


def jobs(tasks, seeds, methods, label, program):
    """Campaigns of the methods and their baselines: all of one seed before the next, so that an early look is fair."""
    found = {}
    for seed in seeds:
        for task in tasks:
            for method in with_baselines(methods):
                if can_run(method, task):
                    ours = method not in PEER_STEPS
                    name = runs_as(method, task)
                    found[Campaign(task, seed, label if ours else PEER_LABEL, name, program if ours else None)] = None
    return list(found)
