"""The environments of known optimum, as kgwalk has them: Gymnasium's own CartPole, and twins of the grid and the masked bandit."""
import gymnasium as gym
import numpy as np


class Grid(gym.Env):
    """kgwalk/Grid-v1: one-hot cell of a 5 x 5 grid; up, right, down, left; 1 at the goal, -0.02 for any other step, cut after 50."""

    size, max_steps, cost = 5, 50, 0.02
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))

    def __init__(self):
        self.seen = np.eye(self.size**2, dtype=np.float32)
        self.observation_space = gym.spaces.Box(0, 1, (self.size**2,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell, self.steps = 0, 0
        return self.seen[0], {}

    def step(self, action):
        down, right = self.moves[action]
        row, column = self.cell // self.size + down, self.cell % self.size + right
        if 0 <= row < self.size and 0 <= column < self.size:
            self.cell = row * self.size + column
        self.steps += 1
        goal = self.cell == self.size**2 - 1
        return self.seen[self.cell], 1.0 if goal else -self.cost, goal, not goal and self.steps >= self.max_steps, {}


class MaskedBandit(gym.Env):
    """kgwalk/MaskedBandit-v1: ten arms, each free with probability 1/2, whose pay depends on one of four contexts; ten pulls."""

    arms, contexts, pulls = 10, 4, 10

    def __init__(self):
        self.seen = np.eye(self.contexts, dtype=np.float32)
        self.pays = [[(7 * arm + 3 * context) % 10 / 9 for arm in range(self.arms)] for context in range(self.contexts)]
        self.bits = np.array([[bits >> arm & 1 for arm in range(self.arms)] for bits in range(1 << self.arms)], dtype=bool)
        self.observation_space = gym.spaces.Box(0, 1, (self.contexts,), np.float32)
        self.action_space = gym.spaces.Discrete(self.arms)

    def _draw(self):
        self.context = int(self.np_random.integers(self.contexts))
        self.free = self.bits[self.np_random.integers(1, 1 << self.arms)]
        return self.seen[self.context]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.pulled = 0
        return self._draw(), {}

    def step(self, action):
        reward = self.pays[self.context][action] if self.free[action] else -1.0
        self.pulled += 1
        return self._draw(), reward, self.pulled >= self.pulls, False, {}

    def action_masks(self):
        return self.free


makers = {"cart-pole": lambda: gym.make("CartPole-v1"), "grid": Grid, "masked-bandit": MaskedBandit}
