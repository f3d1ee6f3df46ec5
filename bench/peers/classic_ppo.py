"""PPO of Stable-Baselines3 (MaskablePPO where there is a mask) or of sbx on the environments of known optimum.

Prints environment steps/s of learn(), rollouts and updates together, and the mean return of 100 greedy episodes at the end;
with --curve also on the way, off the clock.
"""
import os
import warnings

import common

p = common.parser(__doc__, data=False)
p.add_argument("env", choices=["cart-pole", "grid", "masked-bandit"])
p.add_argument("--system", choices=["sb3", "sbx"], default="sb3")
p.add_argument("--total", type=int, default=100_000, help="environment steps; whole rounds, so a few more")
p.add_argument("--envs", type=int, default=8)
p.add_argument("--steps", type=int, default=256, help="rollout steps an env")
p.add_argument("--minibatch", type=int, default=64)
p.add_argument("--epochs", type=int, default=10)
p.add_argument("--hidden", type=int, default=64)
p.add_argument("--curve", type=int, default=0, help="rounds between two evaluations; 0: at the end alone")
a = p.parse_args()
if a.system == "sbx" and a.threads == 1:
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
torch = common.set_torch_threads()
warnings.filterwarnings("ignore")
import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

from classic_envs import makers

make, masked = makers[a.env], a.env == "masked-bandit"
if a.system == "sbx":
    if masked:
        raise SystemExit("sbx has no PPO with masks")
    import jax
    import sbx

    system, algorithm, net = f"sbx {sbx.__version__}, jax {jax.__version__}", sbx.PPO, {"net_arch": [a.hidden] * 2}
else:
    import sb3_contrib
    import stable_baselines3

    algorithm = sb3_contrib.MaskablePPO if masked else stable_baselines3.PPO
    system = f"SB3 {stable_baselines3.__version__}" + (f" + sb3-contrib {sb3_contrib.__version__}" if masked else "")
    net = {"net_arch": {"pi": [a.hidden] * 2, "vf": [a.hidden] * 2}}

vec = VecMonitor(DummyVecEnv([make] * a.envs))
model = algorithm("MlpPolicy", vec, n_steps=a.steps, batch_size=a.minibatch, n_epochs=a.epochs, seed=a.seed, device="cpu", policy_kwargs=net)
clock, curve = common.Clock(), []


def mean_return(copies=20, each=5):
    """Of greedy episodes, over copies that are stepped together: as many of each, so that short ones count no more."""
    test = DummyVecEnv([make] * copies)
    test.seed(1000 + a.seed)
    seen, sums, returns = test.reset(), np.zeros(copies), [[] for _ in range(copies)]
    while any(len(of) < each for of in returns):
        masks = {"action_masks": np.array([env.action_masks() for env in test.envs])} if masked else {}
        actions, _ = model.predict(seen, deterministic=True, **masks)
        seen, rewards, dones, _ = test.step(actions)
        sums += rewards
        for copy in np.flatnonzero(dones):
            if len(returns[copy]) < each:
                returns[copy].append(sums[copy])
        sums[dones] = 0
    return float(np.mean(returns))


class Watch(BaseCallback):
    """Counts learning alone: not the first round, which compiles and warms up, and not the evaluations."""

    rounds, counted, wall, cpu = 0, 0, 0.0, 0.0

    def _pause(self):
        if self.rounds > 1:
            self.wall, self.cpu, self.counted = self.wall + clock.wall, self.cpu + clock.cpu, self.num_timesteps - self.first
        if a.curve and self.rounds % a.curve == 0:
            curve.append([self.num_timesteps, round(mean_return(), 3)])

    def _on_rollout_start(self):
        self._pause()
        self.rounds += 1
        if self.rounds == 2:
            self.first = self.num_timesteps
        clock.restart()

    def _on_step(self):
        return True

    def _on_training_end(self):
        self._pause()


watch = Watch()
model.learn(a.total, callback=watch)
quality = {"return": round(mean_return(), 3), "env_steps": model.num_timesteps, "seed": a.seed}
common.emit(system, "classic-ppo",
            {"env": a.env, "envs": a.envs, "n_steps": a.steps, "minibatch": a.minibatch, "epochs": a.epochs, "hidden": [a.hidden] * 2},
            watch.counted / watch.wall, "env steps/s", watch.wall, watch.cpu, {**quality, **({"curve": curve} if curve else {})})
