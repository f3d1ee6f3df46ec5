"""Steps a second of random legal actions through the bridge: by the clock, and per processor second of both programs together.

The round trip is measured with the drawing of actions. Processor time of the other program is read where there is /proc.

    python bench.py --dataset umls --num-envs 1 16 256 --seconds 3
    python bench.py --env kgwalk/CartPole-v1
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from gymnasium.vector import AutoresetMode

from kgwalk_gym import KgwalkVectorEnv


def random_legal(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One legal action a copy, each as likely; 0 where there is none."""
    upto = np.cumsum(masks, axis=1, dtype=np.int32)
    chosen = (rng.random(len(masks)) * upto[:, -1]).astype(np.int32)
    return np.argmax(upto > chosen[:, None], axis=1)


def processor_seconds(pid: int | None) -> float:
    """Of a process; NaN where the system does not report it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def steps_per_second(env: KgwalkVectorEnv, seconds: float, seed: int) -> tuple[float, float]:
    """By the clock, and by processor time of both programs."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    steps = 0

    def spent() -> float:
        return time.process_time() + processor_seconds(env.pid)

    started, processor = time.perf_counter(), spent()
    while time.perf_counter() - started < seconds:
        env.step(random_legal(env.action_masks(), rng))
        steps += env.num_envs
    return steps / (time.perf_counter() - started), steps / (spent() - processor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="kgwalk/LinkQuery-v1")
    parser.add_argument("--dataset", default=None)
    parser.add_argument("--encoder", default=None)
    parser.add_argument("--config", default=None)
    parser.add_argument("--columns", nargs="+", default=None)
    parser.add_argument("--num-envs", type=int, nargs="+", default=[1, 16, 256])
    parser.add_argument("--autoreset", choices=[mode.value for mode in AutoresetMode], nargs="+", default=["NextStep", "SameStep"])
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print(f"{args.env}, load {os.getloadavg()[0]:.1f}, median of {args.rounds} rounds of {args.seconds:g} s")
    print(f"{'copies':>7}  {'autoreset':9}  {'steps/s':>10}  {'best round':>10}  {'steps / processor s':>20}")
    for num_envs in args.num_envs:
        for mode in args.autoreset:
            env = KgwalkVectorEnv(
                args.env,
                num_envs,
                autoreset_mode=mode,
                dataset=args.dataset,
                encoder=args.encoder,
                config=args.config,
                columns=args.columns,
            )
            steps_per_second(env, 1, 0)  # warm
            rates = [steps_per_second(env, args.seconds, seed) for seed in range(args.rounds)]
            env.close()
            clock, processor = np.median(np.array(rates), axis=0)
            print(f"{num_envs:>7}  {mode:9}  {clock:>10,.0f}  {max(rates)[0]:>10,.0f}  {processor:>20,.0f}", flush=True)


if __name__ == "__main__":
    main()
