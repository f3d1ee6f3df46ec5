"""Shared by the peer scripts: threads, arguments, data, ranks, the JSON line."""
import argparse
import json
import os
import sys
import time
from pathlib import Path


def _threads_from_argv() -> int:
    for i, a in enumerate(sys.argv):
        if a == "--threads":
            return int(sys.argv[i + 1])
        if a.startswith("--threads="):
            return int(a.split("=", 1)[1])
    return 1


THREADS = _threads_from_argv()
ON_GPU = "--device=cuda" in sys.argv or ("--device" in sys.argv and sys.argv[sys.argv.index("--device") + 1] == "cuda")
COUNT_CPU = "--clock=cpu" in sys.argv or ("--clock" in sys.argv and sys.argv[sys.argv.index("--clock") + 1] == "cpu")
# Before numpy or torch are imported: they read these once.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[name] = str(THREADS)
# Barriers sleep instead of spinning: on a busy machine spinning made 2 threads 10 to 30 times slower than 1.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
if not ON_GPU:
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def parser(doc: str, data: bool = True) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    if data:
        p.add_argument("data", help="data folder (train.txt, valid.txt, test.txt: h TAB r TAB t), or a model file")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--seconds", type=float, default=8.0, help="timed window, after the warm-up")
    p.add_argument("--clock", choices=["wall", "cpu"], default="wall",
                   help="what --seconds counts; cpu: CPU seconds / threads, so that a busy machine gives the same work")
    p.add_argument("--seed", type=int, default=0)
    return p


def set_torch_threads():
    import torch

    torch.set_num_threads(THREADS)
    try:
        torch.set_num_interop_threads(1)
    except RuntimeError:
        pass
    return torch


class Clock:
    """Wall and CPU seconds of this process; cpu/wall/threads well below 1 means that the machine was busy."""

    def __init__(self):
        self.restart()

    def restart(self):
        self.wall0, self.cpu0 = time.perf_counter(), time.process_time()

    @property
    def wall(self):
        return time.perf_counter() - self.wall0

    @property
    def cpu(self):
        return time.process_time() - self.cpu0

    @property
    def used(self):
        return self.cpu / THREADS if COUNT_CPU else self.wall


def emit(system, task, settings, rate, unit, seconds, cpu_seconds=None, quality=None):
    line = {
        "system": system, "task": task, "settings": settings,
        "rate": None if rate is None else float(f"{rate:.5g}"), "unit": unit,
        "threads": THREADS, "seconds": round(seconds, 2),
    }
    if cpu_seconds is not None:
        line["cpu_seconds"] = round(cpu_seconds, 2)
        if "/s" in unit:  # what one core gave while it was ours
            line["rate_per_cpu_second"] = float(f"{rate * seconds / max(cpu_seconds, 1e-9):.5g}")
    if quality is not None:
        line["quality"] = quality
    line["load1"] = round(os.getloadavg()[0], 2)
    print(json.dumps(line), flush=True)


class KG:
    """Ids in order of first appearance in train, then valid, then test; entities of all three parts count."""

    def __init__(self, folder):
        import numpy as np

        ents, rels, self.parts = {}, {}, {}
        for part in ("train", "valid", "test"):
            rows = []
            with open(Path(folder) / f"{part}.txt", encoding="utf-8") as f:
                for line in f:
                    h, r, t = line.rstrip("\n").split("\t")
                    rows.append((ents.setdefault(h, len(ents)), rels.setdefault(r, len(rels)), ents.setdefault(t, len(ents))))
            self.parts[part] = np.array(rows, dtype=np.int64)
        self.entities, self.relations = ents, rels
        self.ne, self.nr = len(ents), len(rels)
        self.train, self.valid, self.test = (self.parts[p] for p in ("train", "valid", "test"))
        self.name = Path(folder).name

    def subset(self, n=2000):
        """Test triples 0, s, 2s, …: the same n in every language, no generator needed."""
        stride = max(1, len(self.test) // n)
        return self.test[::stride][:n]


class Filter:
    """For each (h, r, ?) and (?, r, t): every answer known in train, valid or test, as flat arrays."""

    def __init__(self, kg):
        import numpy as np

        every = np.concatenate([kg.train, kg.valid, kg.test])
        self.nr = kg.nr
        self.tails = self._index(every[:, 0] * kg.nr + every[:, 1], every[:, 2])
        self.heads = self._index(every[:, 2] * kg.nr + every[:, 1], every[:, 0])

    @staticmethod
    def _index(keys, values):
        import numpy as np

        order = np.argsort(keys, kind="stable")
        uniq, start = np.unique(keys[order], return_index=True)
        return uniq, np.append(start, len(keys)), values[order]

    def pairs(self, entity, relation, side):
        """(row, column) of every known answer of a batch of queries."""
        import numpy as np

        uniq, start, values = self.tails if side == "tail" else self.heads
        at = np.searchsorted(uniq, entity * self.nr + relation)
        lo, n = start[at], start[at + 1] - start[at]
        rows = np.repeat(np.arange(len(at)), n)
        flat = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + np.repeat(lo, n)
        return rows, values[flat]


def transe_ranks(torch, ent, rel, triples, filt, norm=1, batch=128):
    """Realistic filtered ranks, heads and tails: 1 + better + ties / 2 among all entities not known as answers."""
    out = []
    t = torch.from_numpy
    with torch.inference_mode():
        for side in ("tail", "head"):
            for i in range(0, len(triples), batch):
                b = triples[i : i + batch]
                known, target = (b[:, 0], b[:, 2]) if side == "tail" else (b[:, 2], b[:, 0])
                q = ent[t(known.copy())]
                r = rel[t(b[:, 1].copy())]
                q = q + r if side == "tail" else q - r
                dist = torch.cdist(q, ent, p=norm)
                target = t(target.copy()).unsqueeze(1)
                own = dist.gather(1, target)
                rows, cols = filt.pairs(known, b[:, 1], side)
                dist[t(rows), t(cols)] = float("inf")
                better = (dist < own).sum(1)
                ties = (dist == own).sum(1)
                out.append(1 + better + ties / 2)
    return torch.cat(out)


def quality(ranks):
    r = ranks.double()
    return {"mrr": round((1 / r).mean().item(), 4), "hits1": round((r <= 1).double().mean().item(), 4),
            "hits10": round((r <= 10).double().mean().item(), 4), "queries": len(r)}
