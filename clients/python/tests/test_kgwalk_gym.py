"""Tests of kgwalk_gym: `python -m unittest discover clients/python/tests`.

They start the program as users do. KGWALK_TEST_DATASET names an imported data set of links (default `umls`); KGWALK_TEST_EPISODES
is a file with what Node saw in the same episodes. What needs what is not there is skipped, with the reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

sys.path.insert(0, str(Path(__file__).parent.parent))

import kgwalk_gym  # noqa: E402
from kgwalk_gym import IDS, KgwalkEnv, KgwalkError, KgwalkLinks, KgwalkPolicy, KgwalkVectorEnv, to_sb3  # noqa: E402

LINKS = os.environ.get("KGWALK_TEST_DATASET", "umls")
EPISODES = os.environ.get("KGWALK_TEST_EPISODES")
QUERY = "kgwalk/LinkQuery-v1"

try:
    import stable_baselines3
    from stable_baselines3.common.env_checker import check_env as check_sb3
except ImportError:
    stable_baselines3 = None
try:
    import sb3_contrib
except ImportError:
    sb3_contrib = None


def has_links() -> bool:
    try:
        KgwalkEnv(QUERY, dataset=LINKS).close()
        return True
    except KgwalkError as error:
        if error.code == "data":
            return False
        raise


HAS_LINKS = has_links()
needs_links = unittest.skipUnless(HAS_LINKS, f"no data set of links under the name {LINKS}")
needs_sb3 = unittest.skipUnless(stable_baselines3, "no stable_baselines3 here")


class Checked(unittest.TestCase):
    """Every kind of environment, as Gymnasium and Stable-Baselines3 check it."""

    kinds: list[tuple[str, dict]] = [
        ("kgwalk/CartPole-v1", {}),
        ("kgwalk/Grid-v1", {"options": {"size": 4}}),
        ("kgwalk/MaskedBandit-v1", {}),
        *(
            [
                (QUERY, {"dataset": LINKS}),
                (QUERY, {"dataset": LINKS, "split": "test", "settings": {"linkWalk.horizon": 2}}),
                (QUERY, {"dataset": LINKS, "columns": ["head", "relations", "tails", "path"]}),
            ]
            if HAS_LINKS
            else []
        ),
    ]

    def test_gymnasium(self) -> None:
        for env_id, asked in self.kinds:
            with self.subTest(env_id, **asked), warnings.catch_warnings():
                warnings.simplefilter("error")
                # What Gymnasium says of every space without bounds.
                warnings.filterwarnings("ignore", message=".*(minimum|maximum) value is -?infinity.*")
                with gym.make(env_id, illegal="stay", **asked) as env:
                    check_env(env.unwrapped)

    @needs_sb3
    def test_stable_baselines3(self) -> None:
        for env_id, asked in self.kinds:
            if "columns" in asked:
                continue
            with self.subTest(env_id, **asked), warnings.catch_warnings():
                warnings.simplefilter("error")
                with gym.make(env_id, illegal="stay", **asked) as env:
                    check_sb3(env)

    def test_the_same_through_wrappers_of_gymnasium(self) -> None:
        with gym.make("kgwalk/CartPole-v1", max_episode_steps=3) as env:
            env = gym.wrappers.RecordEpisodeStatistics(env)
            env.reset(seed=1)
            steps = [env.step(0) for _ in range(3)]
            self.assertEqual([step[3] for step in steps], [False, False, True])
            self.assertEqual(steps[-1][4]["episode"]["l"], 3)


class Episodes(unittest.TestCase):
    """What is seen is what a program in TypeScript sees."""

    @needs_links
    @unittest.skipUnless(EPISODES, "no file of episodes of Node: KGWALK_TEST_EPISODES")
    def test_equal_those_of_node(self) -> None:
        assert EPISODES
        wanted = Path(EPISODES).read_text().split()
        digest = hashlib.sha256()
        with KgwalkEnv(QUERY, dataset=LINKS, columns=["head", "relation", "current", "hop", "tails"]) as env:
            for seed in range(1000):
                observation, info = env.reset(seed=seed)
                lines = [f"sample {info['sample']}"]
                ended = False
                while not ended:
                    mask = env.action_masks()
                    legal = np.flatnonzero(mask)
                    action = int(legal[(31 * seed + 7 * int(observation["hop"])) % len(legal)])
                    tails = [int(tail) for tail in observation["tails"] if tail >= 0]
                    at = [int(observation[key]) for key in ("head", "relation", "current", "hop")]
                    lines.append(f"{at} {tails} {[int(place) for place in legal]} {action}")
                    observation, reward, ended, cut, info = env.step(action)
                    lines.append(f"{reward:.6f} {int(ended)} {int(cut)} {info.get('hit')}")
                digest.update("\n".join(lines).encode())
        self.assertEqual(digest.hexdigest(), wanted[0])

    @needs_links
    def test_a_seed_is_the_episode_and_a_stream_goes_on(self) -> None:
        with KgwalkEnv(QUERY, dataset=LINKS) as env:
            first = [env.reset(seed=5)[1]["sample"]] + [env.reset()[1]["sample"] for _ in range(20)]
            again = [env.reset(seed=5)[1]["sample"]] + [env.reset()[1]["sample"] for _ in range(20)]
            self.assertEqual(first, again)
            self.assertGreater(len(set(first)), 3)
            self.assertEqual(env.reset(options={"sample": 3})[1]["sample"], 3)

    def test_copies_are_single_environments_with_seeds_that_follow(self) -> None:
        with KgwalkEnv("kgwalk/CartPole-v1") as env:
            envs = KgwalkVectorEnv("kgwalk/CartPole-v1", 4, autoreset_mode=AutoresetMode.DISABLED)
            observations, _ = envs.reset(seed=7)
            moved = envs.step(np.array([0, 1, 0, 1]))
            for copy in range(4):
                np.testing.assert_array_equal(env.reset(seed=7 + copy)[0], observations[copy])
                observation, reward, *_ = env.step(copy % 2)
                np.testing.assert_array_equal(observation, moved[0][copy])
                self.assertEqual(reward, moved[1][copy])
            envs.close()


class Refused(unittest.TestCase):
    """What is wrong is an error in kgwalk's words, and changes nothing."""

    def test_an_illegal_action_changes_nothing_or_is_replaced(self) -> None:
        for illegal in ("error", "stay"):
            with self.subTest(illegal), KgwalkEnv("kgwalk/MaskedBandit-v1", illegal=illegal) as env:
                env.reset(seed=2)
                masks = env.action_masks()
                wrong = int(np.flatnonzero(~masks)[0])
                last = int(np.flatnonzero(masks)[-1])
                if illegal == "error":
                    with self.assertRaisesRegex(KgwalkError, f"got action {wrong}, at step of kgwalk/MaskedBandit-v1"):
                        env.step(wrong)
                    with self.assertRaises(KgwalkError):
                        env.step(10**6)
                    np.testing.assert_array_equal(env.action_masks(), masks)
                seen = env.step(wrong if illegal == "stay" else last)
                env.reset(seed=2)
                same = env.step(last)
                np.testing.assert_array_equal(seen[0], same[0])
                self.assertEqual(seen[1], same[1])

    def test_a_data_set_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(KgwalkError, '(?s)got "no-such-data".*hint: Import it') as caught:
            gym.make(QUERY, dataset="no-such-data")
        self.assertEqual(caught.exception.code, "data")

    def test_no_data_set_and_no_such_environment(self) -> None:
        for env_id, message in ((QUERY, "expected a data set of links"), ("kgwalk/Grit-v1", "Did you mean kgwalk/Grid-v1")):
            with self.assertRaisesRegex(KgwalkError, message) as caught:
                KgwalkEnv(env_id)
            self.assertEqual(caught.exception.code, "usage")

    def test_columns_that_there_are_not(self) -> None:
        with self.assertRaisesRegex(KgwalkError, "There are observation"):
            KgwalkEnv("kgwalk/Grid-v1", columns=["vector"])

    def test_no_program(self) -> None:
        before = dict(os.environ)
        try:
            os.environ["KGWALK"] = "no-such-program-anywhere"
            with self.assertRaisesRegex(KgwalkError, "at the variable KGWALK"):
                KgwalkEnv("kgwalk/Grid-v1")
            del os.environ["KGWALK"]
            os.environ["PATH"] = tempfile.gettempdir()
            with self.assertRaisesRegex(KgwalkError, "npm install kgwalk") as caught:
                KgwalkEnv("kgwalk/Grid-v1")
            self.assertEqual(caught.exception.code, "missing")
        finally:
            os.environ.clear()
            os.environ.update(before)

    def test_a_closed_environment(self) -> None:
        env = KgwalkEnv("kgwalk/Grid-v1")
        env.close()
        env.close()
        with self.assertRaisesRegex(KgwalkError, "got a closed one"):
            env.reset()


class Ends(unittest.TestCase):
    """Neither side outlives the other."""

    def test_a_killed_program_is_an_error(self) -> None:
        env = KgwalkEnv("kgwalk/Grid-v1")
        env.reset(seed=0)
        os.kill(env.pid, signal.SIGKILL)
        with self.assertRaisesRegex(KgwalkError, "kgwalk ended"):
            while True:
                env.reset()
        env.close()

    def test_the_program_ends_with_a_killed_client(self) -> None:
        code = (
            "import sys, time; sys.path.insert(0, sys.argv[1]); import kgwalk_gym\n"
            "env = kgwalk_gym.KgwalkEnv('kgwalk/Grid-v1'); env.reset(); print(env.pid, flush=True); time.sleep(600)"
        )
        client = subprocess.Popen([sys.executable, "-c", code, str(Path(kgwalk_gym.__file__).parent)], stdout=subprocess.PIPE)
        assert client.stdout
        server = int(client.stdout.readline())
        os.kill(server, 0)
        client.kill()
        client.wait()
        client.stdout.close()
        # A hang ends the whole run of tests.
        while is_alive(server):
            time.sleep(0.01)

    def test_a_closed_environment_leaves_no_program(self) -> None:
        env = KgwalkEnv("kgwalk/Grid-v1")
        pid = env.pid
        env.close()
        self.assertFalse(is_alive(pid))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process without a wait() is gone all the same.
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")


class Vectors(unittest.TestCase):
    """Copies that restart by themselves, as Gymnasium's own do."""

    def walked(self, mode: AutoresetMode):
        envs = KgwalkVectorEnv("kgwalk/MaskedBandit-v1", 3, autoreset_mode=mode, options={"pulls": 2})
        envs.reset(seed=1)
        steps = [envs.step(np.argmax(envs.action_masks(), axis=1)) for _ in range(6)]
        envs.close()
        return steps

    def test_in_the_next_step(self) -> None:
        steps = self.walked(AutoresetMode.NEXT_STEP)
        self.assertEqual([bool(step[2].all()) for step in steps], [False, True, False, False, True, False])
        # The step that restarts ignores its action, and gives no reward.
        self.assertEqual(steps[2][1].tolist(), [0, 0, 0])
        self.assertTrue(all("final_obs" not in step[4] for step in steps))

    def test_in_the_same_step(self) -> None:
        steps = self.walked(AutoresetMode.SAME_STEP)
        self.assertEqual([bool(step[2].all()) for step in steps], [False, True, False, True, False, True])
        infos = steps[1][4]
        self.assertEqual(infos["_final_obs"].tolist(), [True, True, True])
        self.assertEqual(infos["final_obs"][0].shape, (4,))
        self.assertEqual(infos["final_info"]["best"].shape, (3,))

    def test_as_gymnasium_makes_them(self) -> None:
        envs = gym.make_vec("kgwalk/Grid-v1", num_envs=5, vectorization_mode="vector_entry_point", options={"size": 3})
        observations, infos = envs.reset(seed=3)
        self.assertEqual(observations.shape, (5, 9))
        self.assertIn(observations, envs.observation_space)
        self.assertEqual(infos["action_mask"].shape, (5, 4))
        observations, rewards, terminated, truncated, _ = envs.step(envs.action_space.sample())
        self.assertEqual([rewards.dtype, terminated.dtype, truncated.dtype], [np.float64, np.bool_, np.bool_])
        self.assertTrue(observations.flags.writeable and observations.flags.aligned)
        envs.close()

    @needs_links
    def test_columns_stand_side_by_side(self) -> None:
        envs = KgwalkVectorEnv(QUERY, 4, dataset=LINKS, columns=["current", "tails"])
        observations, infos = envs.reset(seed=1, options={"sample": [4, 3, 2, 1]})
        self.assertEqual(infos["sample"].tolist(), [4, 3, 2, 1])
        self.assertIn(observations, envs.observation_space)
        degrees = (observations["tails"] >= 0).sum(axis=1)
        # One action an edge, and staying; some may be hidden.
        self.assertTrue((envs.action_masks().sum(axis=1) <= degrees + 1).all())
        envs.close()

    @needs_sb3
    def test_as_stable_baselines3_has_them(self) -> None:
        other = KgwalkVectorEnv("kgwalk/MaskedBandit-v1", 2)
        with self.assertRaisesRegex(KgwalkError, "SAME_STEP"):
            to_sb3(other)
        other.close()
        venv = KgwalkVectorEnv("kgwalk/MaskedBandit-v1", 2, autoreset_mode=AutoresetMode.SAME_STEP, options={"pulls": 1}).to_sb3()
        venv.seed(4)
        first = venv.reset()
        _, rewards, dones, infos = venv.step(np.argmax(venv.action_masks(), axis=1))
        self.assertEqual(dones.tolist(), [True, True])
        self.assertEqual(rewards.dtype, np.float32)
        self.assertEqual(infos[0]["terminal_observation"].shape, (4,))
        self.assertFalse(infos[0]["TimeLimit.truncated"])
        venv.seed(4)
        np.testing.assert_array_equal(venv.reset(), first)
        venv.close()

    @unittest.skipUnless(sb3_contrib, "no sb3_contrib here")
    def test_maskable_ppo_learns_through_it(self) -> None:
        from sb3_contrib import MaskablePPO
        from sb3_contrib.common.maskable.utils import is_masking_supported

        venv = KgwalkVectorEnv("kgwalk/MaskedBandit-v1", 32, autoreset_mode=AutoresetMode.SAME_STEP).to_sb3()
        self.assertTrue(is_masking_supported(venv))
        model = MaskablePPO("MlpPolicy", venv, n_steps=20, batch_size=128, learning_rate=3e-3, gamma=0.0, seed=0, device="cpu")

        def reward_sum() -> float:
            venv.seed(99)
            observations = venv.reset()
            total = 0.0
            for _ in range(50):
                actions, _ = model.predict(observations, action_masks=venv.action_masks())
                observations, rewards, _, _ = venv.step(actions)
                total += float(rewards.mean())
            return total / 50

        before = reward_sum()
        model.learn(20_000)
        after = reward_sum()
        venv.close()
        # A random free arm pays 0.5 on average, the best 0.89.
        self.assertLess(before, 0.6)
        self.assertGreater(after, 0.75)


class Exported(unittest.TestCase):
    """Policies of Stable-Baselines3 go back to kgwalk."""

    @unittest.skipUnless(sb3_contrib, "no sb3_contrib here")
    def test_a_policy_earns_there_what_it_earns_here(self) -> None:
        from sb3_contrib import MaskablePPO

        venv = KgwalkVectorEnv("kgwalk/MaskedBandit-v1", 4, autoreset_mode=AutoresetMode.SAME_STEP).to_sb3()
        model = MaskablePPO("MlpPolicy", venv, n_steps=64, seed=3, device="cpu", policy_kwargs={"net_arch": [16, 8]})
        model.learn(512)
        venv.close()
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "policy.safetensors")
            kgwalk_gym.export_sb3(model, file)
            words = [*kgwalk_gym._program(), "checkpoint", "import", "sb3", file, "--env", "kgwalk/MaskedBandit-v1"]
            shown = subprocess.run([*words, "--run-dir", os.path.join(folder, "run"), "--json"], stdout=subprocess.PIPE, check=True)
            there = json.loads(shown.stdout)["return"]
        here = 0.0
        with KgwalkEnv("kgwalk/MaskedBandit-v1") as env:
            for episode in range(20):
                # The episodes that kgwalk scores checkpoints on.
                name = json.dumps([0, "episodes/valid", episode], separators=(",", ":"))
                seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
                observation, _ = env.reset(seed=seed)
                ended = False
                while not ended:
                    action, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=True)
                    observation, reward, ended, _, _ = env.step(int(action))
                    here += reward / 20
        self.assertAlmostEqual(there, here, 9)

    @needs_sb3
    def test_what_cannot_go_back_is_named(self) -> None:
        from stable_baselines3 import PPO
        from torch import nn

        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "policy.safetensors")
            model = PPO("MlpPolicy", "Pendulum-v1", device="cpu")
            with self.assertRaisesRegex(KgwalkError, "expected discrete actions"):
                kgwalk_gym.export_sb3(model, file)
            model = PPO("MlpPolicy", "CartPole-v1", device="cpu", policy_kwargs={"activation_fn": nn.ReLU})
            with self.assertRaisesRegex(KgwalkError, "expected tanh layers, got ReLU"):
                kgwalk_gym.export_sb3(model, file)
            self.assertFalse(os.path.exists(file))


class Policies(unittest.TestCase):
    def test_a_trained_policy_acts(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run")
            settings = ["env.id=kgwalk/MaskedBandit-v1", "policy.totalSteps=512", "policy.numSteps=64", "policy.hidden=[8]"]
            words = [word for one in settings for word in ("--set", one)]
            subprocess.run([*kgwalk_gym._program(), "train", "policy", *words, "--run-dir", run], check=True, capture_output=True)
            policy = KgwalkPolicy(run)
            with gym.make("kgwalk/MaskedBandit-v1") as env:
                self.assertEqual(policy.action_space, env.action_space)
                observation, info = env.reset(seed=1)
                vector, mask = observation["observation"] if isinstance(observation, dict) else observation, info["action_mask"]
                chosen = {policy.act(vector, mask, deterministic=False, seed=seed) for seed in range(40)}
                self.assertTrue(all(mask[action] for action in chosen))
                self.assertEqual(policy.act(vector, mask), policy.act(vector, mask))
                with self.assertRaisesRegex(KgwalkError, "with an actionMask"):
                    policy.act(vector)
                env.step(policy.act(vector, mask))
            policy.close()
            with self.assertRaisesRegex(KgwalkError, "a closed one"):
                policy.act(vector, mask)
            with self.assertRaises(KgwalkError):
                KgwalkPolicy(os.path.join(folder, "none"))


@unittest.skipUnless(has_links(), "no data set of links")
class Links(unittest.TestCase):
    def test_answers_have_scores_and_unknown_names_are_refused(self) -> None:
        env = KgwalkEnv("kgwalk/LinkQuery-v1", dataset=LINKS)
        links = KgwalkLinks("rules", dataset=LINKS)
        self.addCleanup(env.close)
        self.addCleanup(links.close)
        env.reset(seed=0)
        with self.assertRaises(KgwalkError) as refused:
            links.predict("no such entity", "no such relation")
        self.assertEqual(refused.exception.code, "usage")


class Found(unittest.TestCase):
    def test_a_server_that_somebody_else_has_started(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "env.sock")
            words = [*kgwalk_gym._program(), "serve", "env", "kgwalk/Grid-v1", "--num-envs", "2", "--autoreset", "nextStep", "--socket", path]
            server = subprocess.Popen(words, stderr=subprocess.PIPE)
            assert server.stderr
            server.stderr.readline()
            envs = KgwalkVectorEnv("kgwalk/Grid-v1", 2, socket_path=path)
            self.assertEqual(envs.reset(seed=1)[0].shape, (2, 25))
            with self.assertRaisesRegex(KgwalkError, "expected 3 of kgwalk/Grid-v1"):
                KgwalkVectorEnv("kgwalk/Grid-v1", 3, socket_path=path)
            server.terminate()
            server.communicate()
            self.assertEqual(server.returncode, 0)
            with self.assertRaises(KgwalkError):
                envs.step(np.zeros(2, dtype=int))
            envs.close()
            with self.assertRaisesRegex(KgwalkError, "expected a server"):
                KgwalkVectorEnv("kgwalk/Grid-v1", 2, socket_path=path)

    def test_an_environment_of_ones_own(self) -> None:
        plugin = """
            export function plugin({ registerEnv }) {
              const space = (form) => ({ form, contains: () => true, sample: () => 0 });
              registerEnv('mine/Count-v1', ({ to = 2 }) => () => {
                let at = 0;
                const shown = () => Float32Array.of(at);
                return {
                  spec: { id: 'mine/Count-v1', maxSteps: to },
                  actionSpace: space({ kind: 'discrete', n: 2, first: 1 }),
                  observationSpace: space({ kind: 'vector', length: 1 }),
                  reset: () => ((at = 0), { observation: shown(), info: {} }),
                  step: (by) => ({ observation: ((at += by), shown()), reward: by, terminated: at >= to, truncated: false, info: {} }),
                  render: () => String(at),
                  close() {},
                };
              });
            }"""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "count.mjs")
            Path(file).write_text(plugin)
            kgwalk_gym.register("mine/Count-v1", plugins=[file], options={"to": 3})
            with gym.make("mine/Count-v1") as env:
                self.assertEqual(env.action_space, gym.spaces.Discrete(2, start=1))
                env.reset()
                self.assertEqual(env.step(1)[:3], (np.array([1.0], dtype=np.float32), 1.0, False))
                self.assertEqual(env.step(2)[:3], (np.array([3.0], dtype=np.float32), 2.0, True))

    def test_ids_are_registered(self) -> None:
        self.assertTrue(all(env_id in gym.registry for env_id in IDS))
        named = os.environ.get("KGWALK_TEST_IDS")
        if named:
            self.assertEqual(sorted(IDS), named.split(","))


if __name__ == "__main__":
    unittest.main()
