"""MaskablePPO of sb3-contrib on link queries through the bridge: mean return before and after, of random legal walks too.

    pip install sb3-contrib
    python train_sb3.py --dataset umls --steps 600000 --seeds 0 1 2
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from gymnasium.vector import AutoresetMode
from sb3_contrib import MaskablePPO

from bench import random_legal
from kgwalk_gym import KgwalkVectorEnv


def open_env(args: argparse.Namespace, split: str) -> KgwalkVectorEnv:
    return KgwalkVectorEnv(
        "kgwalk/LinkQuery-v1",
        args.num_envs,
        autoreset_mode=AutoresetMode.SAME_STEP,
        dataset=args.dataset,
        split=split,
        settings={"linkWalk.horizon": args.horizon},
    )


def mean_return(venv, choose, episodes: int) -> tuple[float, float]:
    """Mean return over so many episodes from seed 12345, and its standard error."""
    venv.seed(12345)
    observations = venv.reset()
    returns: list[float] = []
    running = np.zeros(venv.num_envs)
    while len(returns) < episodes:
        observations, rewards, dones, _ = venv.step(choose(observations, venv.action_masks()))
        running += rewards
        returns.extend(running[dones])
        running[dones] = 0
    kept = np.array(returns[:episodes])
    return float(kept.mean()), float(kept.std() / np.sqrt(episodes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="umls")
    parser.add_argument("--horizon", type=int, default=2)
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--steps", type=int, default=600_000)
    parser.add_argument("--episodes", type=int, default=5_000, help="walks that a mean return is of")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    args = parser.parse_args()
    venvs = {split: open_env(args, split).to_sb3() for split in ("train", "valid")}

    def show(what: str, choose) -> None:
        results = [f"{split} {mean:.3f} ± {error:.3f}" for split, (mean, error) in measured(choose).items()]
        print(f"{what:24}  {'  '.join(results)}", flush=True)

    def measured(choose) -> dict[str, tuple[float, float]]:
        return {split: mean_return(venv, choose, args.episodes) for split, venv in venvs.items()}

    rng = np.random.default_rng(0)
    show("random legal walks", lambda _, masks: random_legal(masks, rng))
    for seed in args.seeds:
        model = MaskablePPO(
            "MultiInputPolicy",
            venvs["train"],
            n_steps=16,
            batch_size=1024,
            n_epochs=4,
            learning_rate=1e-3,
            gamma=1.0,
            gae_lambda=1.0,
            ent_coef=0.01,
            policy_kwargs={"net_arch": [128, 128]},
            seed=seed,
            device="cpu",
        )
        policy = lambda observations, masks: model.predict(observations, action_masks=masks)[0]  # noqa: E731
        show(f"seed {seed}, untrained", policy)
        started = time.perf_counter()
        model.learn(args.steps)
        taken = time.perf_counter() - started
        show(f"seed {seed}, {model.num_timesteps:,} steps", policy)
        print(f"{'':24}  {model.num_timesteps / taken:,.0f} steps/s, {taken:.0f} s", flush=True)
    for venv in venvs.values():
        venv.close()


if __name__ == "__main__":
    main()
