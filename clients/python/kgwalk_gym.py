"""kgwalk's environments as Gymnasium environments: one file, NumPy and gymnasium alone.

    import gymnasium as gym, kgwalk_gym
    env = gym.make("kgwalk/LinkQuery-v1", dataset="umls")
    envs = gym.make_vec("kgwalk/LinkQuery-v1", num_envs=256, dataset="umls")

Each environment is a separate program, `kgwalk serve env`, which ends with this one. It is found by the variable
KGWALK (a path or a whole command), as `kgwalk` on the PATH, or by `npx --no-install kgwalk` in the present folder.
What the program says is in docs/how-to/python.md of kgwalk.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO, Literal

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

__all__ = ["IDS", "KgwalkEnv", "KgwalkError", "KgwalkLinks", "KgwalkPolicy", "KgwalkVectorEnv", "export_sb3", "register", "to_sb3"]
__version__ = "0.1.0"

PROTOCOL = 1
_HELLO, _RESET, _STEP, _CLOSE, _ERROR, _ACT, _PREDICT = 1, 2, 3, 4, 5, 6, 7
_LARGEST_REPLY = 2**31

Illegal = Literal["error", "stay"]


class KgwalkError(RuntimeError):
    """What kgwalk refused, in its words, or that it is not there.

    Attributes:
        code: `usage`, `data`, `config`, `failure` …, as the program has them; `missing` where there is no program.
        hint: what to do about it, where that is known.
    """

    def __init__(self, message: str, code: str = "failure", hint: str | None = None):
        super().__init__(f"{message}\nhint: {hint}" if hint else message)
        self.code = code
        self.hint = hint


def _program() -> list[str]:
    """The words that start kgwalk."""
    named = os.environ.get("KGWALK")
    if named:
        words = [named] if os.path.exists(named) else shlex.split(named)
        if shutil.which(words[0]) or os.path.exists(words[0]):
            return words
        raise KgwalkError(f"expected a program, got {named!r}, at the variable KGWALK", "missing")
    found = shutil.which("kgwalk")
    if found:
        return [found]
    npx = shutil.which("npx")
    if npx:
        return [npx, "--no-install", "kgwalk"]
    raise KgwalkError(
        "expected the program kgwalk, got none on the PATH",
        "missing",
        "Install it (npm install kgwalk), or name it: KGWALK='node …/kgwalk/dist/cli/main.js'.",
    )


class _Process:
    """`kgwalk serve env`, asked by its standard input and answering by its standard output."""

    def __init__(self, words: Sequence[str], verbose: bool):
        self._told: BinaryIO | None = None if verbose else tempfile.TemporaryFile()
        theirs: socket.socket | None = None
        self._socket: socket.socket | None = None
        if hasattr(socket, "AF_UNIX"):
            # One socket for both ways: quicker than two pipes where replies are large.
            self._socket, theirs = socket.socketpair()
            for end in (self._socket, theirs):
                for kind in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                    end.setsockopt(socket.SOL_SOCKET, kind, 2**20)
        try:
            self._process = subprocess.Popen(
                list(words),
                stdin=theirs or subprocess.PIPE,
                stdout=theirs or subprocess.PIPE,
                stderr=self._told,
                # Ctrl-C is for this program: the other one ends when this one goes.
                start_new_session=True,
            )
        except OSError as error:
            raise KgwalkError(f"expected the program {words[0]} to start, got {error}", "missing") from error
        finally:
            if theirs:
                theirs.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, data: bytes) -> None:
        try:
            if self._socket:
                self._socket.sendall(data)
            else:
                assert self._process.stdin
                self._process.stdin.write(data)
                self._process.stdin.flush()
        except OSError as error:
            raise self._gone() from error

    def read(self, count: int) -> bytearray:
        data = bytearray(count)
        view = memoryview(data)
        while len(view) > 0:
            try:
                if self._socket:
                    got = self._socket.recv_into(view)
                else:
                    assert self._process.stdout
                    got = self._process.stdout.readinto(view)  # type: ignore[attr-defined]
            except OSError as error:
                raise self._gone() from error
            if not got:
                raise self._gone()
            view = view[got:]
        return data

    def close(self, farewell: bytes) -> None:
        if self._process.poll() is None:
            try:
                self.send(farewell)
            except KgwalkError:
                pass
        for end in (self._socket, self._process.stdin, self._process.stdout):
            if end:
                end.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._told:
            self._told.close()

    def _gone(self) -> KgwalkError:
        """What the program said before it ended."""
        try:
            status = self._process.wait(5)
        except subprocess.TimeoutExpired:
            status = None
        lines: list[str] = []
        if self._told and not self._told.closed:
            self._told.seek(0)
            lines = self._told.read()[-(2**16) :].decode(errors="replace").splitlines()

        def said(word: str) -> str | None:
            return next((line[len(word) :] for line in reversed(lines) if line.startswith(word)), None)

        codes = {2: "usage", 3: "data", 4: "native"}
        message = said("error: ") or "\n".join(lines[-5:]) or "nothing was said"
        return KgwalkError(f"kgwalk ended (status {status}): {message}", codes.get(status or 0, "failure"), said("hint: "))


class _Socket:
    """A server that was started elsewhere: `kgwalk serve env … --socket PATH`."""

    pid = None

    def __init__(self, path: str):
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise KgwalkError(f"expected a server, got {error}, at {path}", "missing", "kgwalk serve env … --socket PATH") from error

    def send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise KgwalkError(f"the server has gone: {error}") from error

    def read(self, count: int) -> bytearray:
        data = bytearray(count)
        view = memoryview(data)
        while len(view) > 0:
            try:
                got = self._socket.recv_into(view)
            except OSError as error:
                raise KgwalkError(f"the server has gone: {error}") from error
            if not got:
                raise KgwalkError("the server has gone")
            view = view[got:]
        return data

    def close(self, farewell: bytes) -> None:
        try:
            self._socket.sendall(farewell)
        except OSError:
            pass
        self._socket.close()


class _AnyText(spaces.Text):
    """Any text: `Text` knows finite alphabets alone."""

    def __init__(self) -> None:
        super().__init__(max_length=2**20, min_length=0)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str)


def _space_of(column: Mapping[str, Any]) -> spaces.Space[Any]:
    form = column["form"]
    kind = form["kind"]
    if kind == "discrete":
        return spaces.Discrete(form["n"], start=form["first"])
    if kind == "text":
        return _AnyText()
    if kind == "vector":
        length = form["length"]

        def bounds(key: str, none: float) -> np.ndarray:
            given = form.get(key) or [None] * length
            return np.array([none if bound is None else bound for bound in given], dtype=np.float32)

        return spaces.Box(bounds("low", -np.inf), bounds("high", np.inf), dtype=np.float32)
    high = np.inf if form["high"] is None else form["high"]
    if column["dtype"] == "float64":
        return spaces.Box(min(0.0, form["low"] or 0.0), high, (column["width"],), np.float64)
    # Behind a list's end stands -1.
    return spaces.Box(-1, int(high), (column["width"],), np.int32)


class _InfoRows:
    """What is said of copies in one reply: values by key, for some rows."""

    def __init__(self, info_rows: Mapping[str, Any] | None):
        self.rows: list[int] = info_rows["rows"] if info_rows else []
        self.values: dict[str, list[Any]] = info_rows["values"] if info_rows else {}

    def of(self, at: int) -> dict[str, Any]:
        return {key: values[at] for key, values in self.values.items() if values[at] is not None}

    def into(self, infos: dict[str, Any], count: int) -> None:
        """Adds arrays over all copies, with `_key` where there is a value, as Gymnasium has them."""
        for key, values in self.values.items():
            known = [(row, value) for row, value in zip(self.rows, values, strict=True) if value is not None]
            if not known:
                continue
            kind = type(known[0][1])
            whole = np.zeros(count, dtype=kind) if kind in (int, float, bool) else np.full(count, None, dtype=object)
            if key in infos:
                whole = infos[key] if kind in (int, float, bool) and infos[key].dtype == whole.dtype else infos[key].astype(object)
            there = infos.get(f"_{key}", np.zeros(count, dtype=np.bool_))
            rows = [row for row, _ in known]
            whole[rows] = [value for _, value in known]
            there[rows] = True
            infos[key], infos[f"_{key}"] = whole, there


class _Reply:
    """One reply to reset or step, as separate arrays."""

    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    masks: np.ndarray
    observations: dict[str, Any]
    finals: np.ndarray
    last: dict[str, Any]
    begun: _InfoRows
    ended: _InfoRows


class _Frames:
    """Requests and replies of one program."""

    def __init__(self, connection: _Process | _Socket, **asked: Any):
        self._connection = connection
        self.closed = False
        try:
            self.hello: dict[str, Any] = self.ask_json(_HELLO, {"protocol": PROTOCOL, **asked})
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int | None:
        return self._connection.pid

    def ask_json(self, op: int, asked: Mapping[str, Any]) -> Any:
        return json.loads(bytes(self._ask(op, json.dumps(asked).encode())))

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self._connection.close(struct.pack("<IB", 1, _CLOSE))

    def _ask(self, op: int, body: bytes) -> memoryview:
        if self.closed:
            raise KgwalkError("expected an open environment, got a closed one", "usage")
        self._connection.send(struct.pack("<IB", 1 + len(body), op) + body)
        length, got = struct.unpack("<IB", self._connection.read(5))
        if not 1 <= length <= _LARGEST_REPLY:
            raise KgwalkError(f"expected a frame of kgwalk, got one of {length} bytes")
        reply = memoryview(self._connection.read(length - 1))
        if got == _ERROR:
            error = json.loads(bytes(reply))
            raise KgwalkError(error["message"], error.get("code", "failure"), error.get("hint"))
        if got != op:
            raise KgwalkError(f"expected a reply to {op}, got {got}")
        return reply


class _Client(_Frames):
    """The protocol of environments: columns of many copies."""

    def __init__(self, connection: _Process | _Socket, columns: Sequence[str] | None):
        asked = {} if columns is None else {"columns": list(columns)}
        super().__init__(connection, padded=True, **asked)
        self.num_envs: int = self.hello["numEnvs"]
        self.columns: list[dict[str, Any]] = self.hello["columns"]
        self.max_actions: int = self.hello["maxActions"]

    def reset(self, seed: int | None, options: Sequence[Mapping[str, Any]] | None) -> _Reply:
        asked: dict[str, Any] = {}
        if seed is not None:
            asked["seed"] = int(seed)
        if options is not None:
            asked["options"] = list(options)
        return self._read(self._ask(_RESET, json.dumps(asked).encode()))

    def step(self, actions: np.ndarray) -> _Reply:
        return self._read(self._ask(_STEP, np.ascontiguousarray(actions, dtype="<i4").tobytes()))

    def _read(self, data: memoryview) -> _Reply:
        at = 0

        def take(dtype: str, count: int) -> np.ndarray:
            nonlocal at
            array = np.frombuffer(data, dtype=dtype, count=count, offset=at)
            at += array.nbytes
            return array.copy()

        def column(about: Mapping[str, Any], rows: int) -> Any:
            if about["layout"] == "fixed":
                values = take(_DTYPES[about["dtype"]], rows * about["width"])
                if about["form"]["kind"] == "discrete":
                    return values.astype(np.int64)
                return values.reshape(rows, about["width"])
            counts = take("<i4", rows)
            flat = bytes(take("|u1", int(counts.sum())))
            ends = np.cumsum(counts)
            return tuple(flat[end - count : end].decode() for end, count in zip(ends, counts, strict=True))

        count = self.num_envs
        reply = _Reply()
        reply.rewards = take("<f8", count)
        reply.terminated = take("|u1", count).astype(np.bool_)
        reply.truncated = take("|u1", count).astype(np.bool_)
        masked = take("|u1", 1)[0] == 1
        take("<i4", count)
        if masked:
            reply.masks = take("|u1", count * self.max_actions).reshape(count, self.max_actions).view(np.bool_)
        else:
            reply.masks = np.ones((count, self.max_actions), dtype=np.bool_)
        reply.observations = {about["name"]: column(about, count) for about in self.columns}
        ended = int(take("<u4", 1)[0])
        reply.finals = take("<i4", ended)
        reply.last = {about["name"]: column(about, ended) for about in self.columns} if ended else {}
        length = int(take("<u4", 1)[0])
        info_rows = json.loads(bytes(data[at : at + length])) if length else {}
        reply.begun = _InfoRows(info_rows.get("begun"))
        reply.ended = _InfoRows(info_rows.get("ended"))
        return reply


_DTYPES = {"uint8": "|u1", "uint16": "<u2", "int32": "<i4", "float32": "<f4", "float64": "<f8"}


def _words(
    env_id: str,
    num_envs: int,
    autoreset: str,
    dataset: str | None,
    split: str | None,
    encoder: str | None,
    config: str | None,
    settings: Mapping[str, Any] | None,
    options: Mapping[str, Any] | None,
    plugins: Iterable[str],
) -> list[str]:
    """The command line of an environment."""
    words = _program()
    for plugin in plugins:
        words += ["--plugin", os.fspath(plugin)]
    words += ["serve", "env", env_id, "--num-envs", str(num_envs), "--autoreset", autoreset]
    named = {"--dataset": dataset, "--split": split, "--encoder": encoder, "--config": config}
    words += [word for flag, value in named.items() if value is not None for word in (flag, os.fspath(value))]
    for flag, chosen in (("--set", settings), ("--option", options)):
        words += [word for key, value in (chosen or {}).items() for word in (flag, f"{key}={json.dumps(value)}")]
    return words


def _open(
    env_id: str,
    num_envs: int,
    autoreset: str,
    *,
    dataset: str | None = None,
    split: str | None = None,
    encoder: str | None = None,
    config: str | None = None,
    settings: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    plugins: Iterable[str] = (),
    columns: str | Sequence[str] | None = None,
    socket_path: str | None = None,
    verbose: bool = False,
) -> _Client:
    asked = [columns] if isinstance(columns, str) else columns
    if socket_path is not None:
        client = _Client(_Socket(socket_path), asked)
        served = (client.hello["spec"]["id"], client.num_envs, client.hello["autoreset"])
        if served != (env_id, num_envs, autoreset):
            client.close()
            raise KgwalkError(
                f"expected {num_envs} of {env_id} with autoreset {autoreset}, got {served[1]} of {served[0]} with {served[2]}, at {socket_path}",
                "usage",
                f"kgwalk serve env {env_id} --num-envs {num_envs} --autoreset {autoreset} --socket {socket_path}",
            )
        return client
    words = _words(env_id, num_envs, autoreset, dataset, split, encoder, config, settings, options, plugins)
    return _Client(_Process(words, verbose), asked)


def _observation_space(client: _Client, columns: str | Sequence[str] | None) -> tuple[spaces.Space[Any], str | None]:
    """The space of one copy, and the column that it is where it is one alone."""
    single = columns if isinstance(columns, str) else None
    if columns is None and [about["name"] for about in client.columns] == ["observation"]:
        single = "observation"
    forms = {about["name"]: _space_of(about) for about in client.columns}
    return (forms[single] if single else spaces.Dict(forms)), single


def _last_legal(masks: np.ndarray) -> np.ndarray:
    return masks.shape[1] - 1 - np.argmax(masks[:, ::-1], axis=1)


def _legal(actions: np.ndarray, masks: np.ndarray, first: int) -> np.ndarray:
    """The actions, with each copy's last legal one, which stays or stops where it can, in place of those that are not."""
    places = actions.astype(np.int64) - first
    inside = (places >= 0) & (places < masks.shape[1])
    fine = inside & masks[np.arange(len(places)), np.where(inside, places, 0)]
    return np.where(fine, actions, first + _last_legal(masks)).astype(np.int32)


class _Served:
    """What is known of the program behind an environment."""

    _client: _Client

    @property
    def server(self) -> dict[str, Any]:
        """What the program said of itself and the environment."""
        return self._client.hello

    @property
    def pid(self) -> int | None:
        """The process that was started; None of a server that was started elsewhere."""
        return self._client.pid


class KgwalkEnv(_Served, gym.Env[Any, Any]):
    """One environment.

    Args:
        env_id: as `kgwalk` has it, such as `kgwalk/LinkQuery-v1`; `gym.make` fills it in.
        dataset: name of an imported data set (`kgwalk datasets list`); classic environments need none.
        split: `train` (default), `valid` or `test`: whose samples episodes are drawn from.
        encoder: what makes vectors. Links: `transe` or `bilinear`, as `config` has them. Dialogues and questions: FILE.gguf,
            a name of `kgwalk models list`, or `hashed:DIM`. Default none: ids alone.
        config: a preset or YAML file whose settings the environment follows, such as `umls-transe`.
        settings: changes to it, such as `{"linkWalk.horizon": 2}`.
        options: of the environment itself, such as `{"size": 7}` of `kgwalk/Grid-v1`.
        plugins: files that register further environments (`--plugin`).
        columns: which columns are observed. Default: those of one width, as a `Dict`; a list of names: these, as a `Dict`, where
            lists, such as `relations` and `tails`, are padded with -1; one name: that column itself.
        illegal: what an action that is not legal does: `error` raises `KgwalkError` and changes nothing; `stay` takes the
            last legal one, which stays or stops where possible: for checkers and for algorithms without masks.
        socket_path: of a server that was started by hand; what is asked above is then its own.
        verbose: whether the program's own notes go to standard error.

    `info["action_mask"]` (uint8) and `action_masks()` (bool, for MaskablePPO) say which actions are legal.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, env_id: str, *, illegal: Illegal = "error", columns: str | Sequence[str] | None = None, **asked: Any):
        _check_illegal(illegal)
        self._client = _open(env_id, 1, "disabled", columns=columns, **asked)
        self._illegal = illegal
        self.observation_space, self._single = _observation_space(self._client, columns)
        actions = self._client.hello["actions"]
        self._first: int = actions["first"]
        self.action_space = spaces.Discrete(actions["n"], start=self._first)
        self._masks = np.ones((1, self._client.max_actions), dtype=np.bool_)
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode. `options={"sample": 12}` chooses which, where the environment has samples."""
        super().reset(seed=seed)
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(2**31))
        self._begun = True
        reply = self._client.reset(seed, None if options is None else [options])
        return self._observed(reply), self._info(reply, reply.begun)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step. @raises KgwalkError for an action that is not legal, unless `illegal='stay'`."""
        actions = np.array([action])
        if self._illegal == "stay":
            actions = _legal(actions, self._masks, self._first)
        reply = self._client.step(actions)
        terminated, truncated = bool(reply.terminated[0]), bool(reply.truncated[0])
        return self._observed(reply), float(reply.rewards[0]), terminated, truncated, self._info(reply, reply.ended)

    def action_masks(self) -> np.ndarray:
        """Bool [actions]: which are legal now."""
        return self._masks[0].copy()

    def close(self) -> None:
        """Ends the program."""
        self._client.close()

    def _observed(self, reply: _Reply) -> Any:
        self._masks = reply.masks
        row = {name: values[0] for name, values in reply.observations.items()}
        return row[self._single] if self._single else row

    def _info(self, reply: _Reply, info_rows: _InfoRows) -> dict[str, Any]:
        info = info_rows.of(0) if info_rows.rows else {}
        return {**info, "action_mask": reply.masks[0].astype(np.int8)}


_MODES = {AutoresetMode.NEXT_STEP: "nextStep", AutoresetMode.SAME_STEP: "sameStep", AutoresetMode.DISABLED: "disabled"}


class KgwalkVectorEnv(_Served, VectorEnv[Any, Any, Any]):
    """Many copies in one program, stepped together: what they share lies in memory once, and a step is one round trip.

    Args:
        env_id: as `KgwalkEnv`, like all that is not named here.
        num_envs: number of copies.
        autoreset_mode: `NEXT_STEP` (Gymnasium's default), `SAME_STEP` (what Stable-Baselines3 counts on) or `DISABLED`, in which
            copies whose episode ended wait until all are reset.

    A base seed gives copy `i` the seed `seed + i`. `infos["action_mask"]` and `action_masks()` are bool [num_envs, actions].
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        env_id: str,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        illegal: Illegal = "error",
        columns: str | Sequence[str] | None = None,
        **asked: Any,
    ):
        _check_illegal(illegal)
        mode = autoreset_mode if isinstance(autoreset_mode, AutoresetMode) else AutoresetMode(autoreset_mode)
        self._client = _open(env_id, num_envs, _MODES[mode], columns=columns, **asked)
        self._illegal = illegal
        self.num_envs = num_envs
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.autoreset_mode = mode
        self.single_observation_space, self._single = _observation_space(self._client, columns)
        actions = self._client.hello["actions"]
        self._first: int = actions["first"]
        self.single_action_space = spaces.Discrete(actions["n"], start=self._first)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._masks = np.ones((num_envs, self._client.max_actions), dtype=np.bool_)
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in every copy; `options={"sample": [3, 1, …]}` gives each copy its value."""
        if seed is not None and not isinstance(seed, (int, np.integer)):
            raise KgwalkError(f"expected one seed for all copies, got {type(seed).__name__}", "usage", "Copy i gets seed + i.")
        super().reset(seed=None if seed is None else int(seed))
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(2**31))
        self._begun = True
        each = None
        if options:
            each = [{key: _plain(values[i]) for key, values in options.items()} for i in range(self.num_envs)]
        reply = self._client.reset(seed, each)
        return self._observed(reply), self._infos(reply)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of every copy."""
        actions = np.asarray(actions)
        if self._illegal == "stay":
            actions = _legal(actions, self._masks, self._first)
        reply = self._client.step(actions)
        return self._observed(reply), reply.rewards, reply.terminated, reply.truncated, self._infos(reply)

    def action_masks(self) -> np.ndarray:
        """Bool [num_envs, actions]: which are legal now."""
        return self._masks.copy()

    def close_extras(self, **_: Any) -> None:
        """Ends the program."""
        self._client.close()

    def to_sb3(self) -> Any:
        """This environment as a `VecEnv` of Stable-Baselines3, with `action_masks()` for MaskablePPO."""
        return to_sb3(self)

    def _observed(self, reply: _Reply) -> Any:
        self._masks = reply.masks
        return reply.observations[self._single] if self._single else reply.observations

    def _last(self, reply: _Reply) -> list[Any]:
        """The last observation of each copy that ended."""
        if self._single:
            return list(reply.last.get(self._single, ()))
        return [{name: values[at] for name, values in reply.last.items()} for at in range(len(reply.finals))]

    def _infos(self, reply: _Reply) -> dict[str, Any]:
        infos: dict[str, Any] = {"action_mask": reply.masks.astype(np.int8), "_action_mask": np.ones(self.num_envs, dtype=np.bool_)}
        reply.begun.into(infos, self.num_envs)
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            reply.ended.into(infos, self.num_envs)
        elif len(reply.finals) > 0:
            there = np.zeros(self.num_envs, dtype=np.bool_)
            there[reply.finals] = True
            last = np.full(self.num_envs, None, dtype=object)
            for row, observation in zip(reply.finals, self._last(reply), strict=True):
                last[row] = observation
            final: dict[str, Any] = {}
            reply.ended.into(final, self.num_envs)
            infos.update({"final_obs": last, "_final_obs": there, "final_info": final, "_final_info": there.copy()})
        return infos


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _check_illegal(illegal: str) -> None:
    if illegal not in ("error", "stay"):
        raise KgwalkError(f"expected illegal='error' or 'stay', got {illegal!r}", "usage")


def to_sb3(env: KgwalkVectorEnv) -> Any:
    """A vector environment as a `VecEnv` of Stable-Baselines3.

    @raises KgwalkError where it was not made with `autoreset_mode=AutoresetMode.SAME_STEP`, which SB3 counts on, or SB3 is missing.
    """
    try:
        from stable_baselines3.common.vec_env import VecEnv
    except ImportError as error:
        raise KgwalkError("expected stable-baselines3, got none", "missing", "pip install stable-baselines3 sb3-contrib") from error
    if env.autoreset_mode != AutoresetMode.SAME_STEP:
        raise KgwalkError(
            f"expected autoreset_mode=AutoresetMode.SAME_STEP, got {env.autoreset_mode}", "usage", "Stable-Baselines3 counts on it."
        )

    class KgwalkVecEnv(VecEnv):  # type: ignore[misc]
        """`KgwalkVectorEnv` under the names of Stable-Baselines3."""

        def __init__(self) -> None:
            super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
            self._actions: np.ndarray | None = None

        def reset(self) -> Any:
            seed = self._seeds[0]
            observations, infos = env.reset(seed=seed)
            self._reset_seeds()
            self._reset_options()
            self.reset_infos = [{"action_mask": mask} for mask in infos["action_mask"]]
            return observations

        def step_async(self, actions: np.ndarray) -> None:
            self._actions = actions

        def step_wait(self) -> Any:
            assert self._actions is not None
            actions = np.asarray(self._actions)
            if env._illegal == "stay":
                actions = _legal(actions, env._masks, env._first)
            reply = env._client.step(actions)
            observations = env._observed(reply)
            infos: list[dict[str, Any]] = [{} for _ in range(env.num_envs)]
            for at, (row, last) in enumerate(zip(reply.finals, env._last(reply), strict=True)):
                cut = bool(reply.truncated[row] and not reply.terminated[row])
                infos[row] = {**reply.ended.of(at), "terminal_observation": last, "TimeLimit.truncated": cut}
            return observations, reply.rewards.astype(np.float32), reply.terminated | reply.truncated, infos

        def close(self) -> None:
            env.close()

        def action_masks(self) -> np.ndarray:
            """Bool [num_envs, actions]: which are legal now."""
            return env.action_masks()

        def has_attr(self, attr_name: str) -> bool:
            return attr_name == "action_masks" or hasattr(env, attr_name)

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            return [getattr(env, attr_name)] * len(list(self._get_indices(indices)))

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            raise NotImplementedError("the copies live in another program")

        def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
            if method_name != "action_masks":
                raise NotImplementedError(f"{method_name}: the copies live in another program")
            masks = env.action_masks()
            return [masks[i] for i in self._get_indices(indices)]

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
            return [False] * len(list(self._get_indices(indices)))

    return KgwalkVecEnv()


class KgwalkPolicy:
    """A policy that `kgwalk train policy` or `trainPolicy` trained, in a program of its own.

    Args:
        run: its folder or name.
        checkpoint: `best` (default), `last`, a name or a step.
        backend: what computes it; default the run's own.
        plugins: files of `--plugin`, for a run that needs them.
        verbose: whether the program's own notes go to standard error.
    """

    def __init__(
        self,
        run: str | os.PathLike[str],
        *,
        checkpoint: str = "best",
        backend: str | None = None,
        plugins: Iterable[str] = (),
        verbose: bool = False,
    ):
        words = _program()
        for plugin in plugins:
            words += ["--plugin", os.fspath(plugin)]
        words += ["serve", "policy", os.fspath(run), "--checkpoint", checkpoint]
        self._client = _Frames(_Process(words + (["--backend", backend] if backend else []), verbose))
        actions = self._client.hello["actions"]
        self.action_space = spaces.Discrete(actions["n"], start=actions["first"])

    def act(self, observation: Any, action_mask: Any = None, *, deterministic: bool = True, seed: int | None = None) -> int:
        """The action for one observation, with the mask where the environment has one. @raises KgwalkError where it does not fit"""
        seen: Any = np.asarray(observation, dtype=np.float32).tolist()
        if self._client.hello["masked"] and action_mask is not None:
            seen = {"observation": seen, "actionMask": np.asarray(action_mask, dtype=int).tolist()}
        asked = {"observation": seen, "deterministic": deterministic, **({} if seed is None else {"seed": seed})}
        return int(self._client.ask_json(_ACT, asked)["action"])

    def close(self) -> None:
        """Ends the program."""
        self._client.close()


class KgwalkLinks:
    """Answers to link queries, with reasons where the agent has any.

    Args:
        name: folder or name of a run, RUN+RUN for several as one, or an agent such as `rules`.
        dataset: imported data set; default the run's own.
        checkpoint: of a run: `best` (default), `last`, a name or a step.
        verbose: whether the program's own notes go to standard error.
    """

    def __init__(
        self,
        name: str | os.PathLike[str],
        *,
        dataset: str | None = None,
        checkpoint: str = "best",
        verbose: bool = False,
    ):
        words = _program() + ["serve", "links", os.fspath(name), "--checkpoint", checkpoint]
        self._client = _Frames(_Process(words + (["--dataset", dataset] if dataset else []), verbose))

    def predict(self, head: str, relation: str, k: int = 10) -> list[dict[str, Any]]:
        """The `k` best answers of (head, relation, ?), `~relation` for heads. @raises KgwalkError for unknown names"""
        return self._client.ask_json(_PREDICT, {"head": head, "relation": relation, "k": k})["answers"]

    def close(self) -> None:
        """Ends the program."""
        self._client.close()


def export_sb3(model: Any, file: str | os.PathLike[str]) -> None:
    """Writes a policy of Stable-Baselines3 for `kgwalk checkpoint import sb3`: safetensors, numbers alone.

    Args:
        model: PPO or MaskablePPO with `MlpPolicy`: dense tanh layers over a vector, discrete actions from 0.
        file: where to write.

    @raises KgwalkError for anything else, naming it.
    """

    def refuse(expected: str, got: Any) -> KgwalkError:
        return KgwalkError(f"expected {expected}, got {got}, at export_sb3", "usage")

    policy = model.policy
    space = policy.observation_space
    if not (isinstance(space, spaces.Box) and len(space.shape) == 1):
        raise refuse("observations that are vectors", space)
    if not isinstance(policy.action_space, spaces.Discrete) or policy.action_space.start != 0:
        raise refuse("discrete actions from 0", policy.action_space)
    if policy.activation_fn.__name__ != "Tanh":
        raise refuse("tanh layers", policy.activation_fn.__name__)
    if type(policy.features_extractor).__name__ != "FlattenExtractor":
        raise refuse("observations as they are", type(policy.features_extractor).__name__)
    if model.get_vec_normalize_env() is not None:
        raise refuse("observations as they are", "VecNormalize")
    arrays = {name: np.asarray(value.detach().cpu().numpy(), dtype="<f4") for name, value in policy.state_dict().items()}
    about: dict[str, Any] = {"__metadata__": {"format": "pt", "activation": "tanh", "from": "stable-baselines3"}}
    end = 0
    for name, array in arrays.items():
        about[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    header = json.dumps(about).encode()
    header += b" " * (-len(header) % 8)
    with open(file, "wb") as out:
        out.write(struct.pack("<Q", len(header)) + header)
        for array in arrays.values():
            out.write(array.tobytes())


def register(env_id: str, **asked: Any) -> None:
    """Makes an environment of kgwalk known to `gym.make`, such as a plugin's own: `register("mine/Walk-v1", plugins=["walk.mjs"])`."""
    gym.register(
        env_id,
        entry_point=f"{__name__}:KgwalkEnv",
        vector_entry_point=f"{__name__}:KgwalkVectorEnv",
        kwargs={"env_id": env_id, **asked},
        # The program counts steps itself, and says where an episode was cut.
        max_episode_steps=None,
    )


IDS = (
    "kgwalk/LinkQuery-v1",
    "kgwalk/OpenDialKG-v1",
    "kgwalk/RelationWalk-v1",
    "kgwalk/CartPole-v1",
    "kgwalk/Grid-v1",
    "kgwalk/MaskedBandit-v1",
)

for _id in IDS:
    if _id not in gym.registry:
        register(_id)
