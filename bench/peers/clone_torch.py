"""Behaviour cloning of the recommended walker on OpenDialKG: walks of train per second.

The network, losses and steps of kgwalk's candidate head, edges side by side without padding. States, their legal edges and
the tails are those of the release in the folder `data`; vectors and edge features are random and ready in memory, so that
making features costs nothing here. A walk brings two states: its start, and where its first hop leads. Hubs are cut to 64
edges redrawn for each batch. `--whole` trains all epochs with a pass over valid after each.
"""
import csv
import json
from pathlib import Path

import common

p = common.parser(__doc__)
p.add_argument("--batch", type=int, default=128)
p.add_argument("--epochs", type=int, default=4)
p.add_argument("--whole", action="store_true")
a = p.parse_args()
torch = common.set_torch_threads()
import numpy as np

nn, F = torch.nn, torch.nn.functional
torch.manual_seed(a.seed)
rng = np.random.default_rng(a.seed)
TEXT, STATIC, D, WIDTH, HIDDEN, FEATURES, SCALARS, CAP = 384, 256, 128, 256, 64, 26, 6, 64

entities, relations = {}, {}
heads, rels, tails = [], [], []
for line in open(Path(a.data) / "opendialkg_triples.txt", encoding="utf-8"):
    h, r, t = line.rstrip("\n").split("\t")
    heads.append(entities.setdefault(h, len(entities)))
    rels.append(relations.setdefault(r, len(relations)))
    tails.append(entities.setdefault(t, len(entities)))
order = np.argsort(heads, kind="stable")
rels, tails = np.array(rels)[order], np.array(tails)[order]
begin = np.append(0, np.cumsum(np.bincount(heads, minlength=len(entities))))
STAY, NONE = len(relations), len(relations) + 1


def walks(name):
    """(start, where the first hop leads) of every path in the graph."""
    for row in csv.DictReader(open(Path(a.data) / name, encoding="utf-8")):
        for item in json.loads(row["Messages"]):
            path = item.get("metadata", {}).get("path") if "message" not in item else None
            if path and path[1][0][0] in entities and path[1][0][2] in entities:
                start, middle = entities[path[1][0][0]], entities[path[1][0][2]]
                if begin[start + 1] > begin[start]:
                    yield start, middle


train, valid = (np.array(list(walks(f"{part}.csv"))) for part in ("train", "valid"))
texts = torch.randn(len(train), 2 * TEXT) / TEXT**0.5
statics, names = torch.randn(len(entities), STATIC), torch.randn(len(relations) + 2, TEXT) / TEXT**0.5
features = torch.rand(1 << 20, FEATURES)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.context, self.entity = nn.Linear(2 * TEXT, WIDTH), nn.Linear(STATIC, D)
        self.relation = nn.Linear(TEXT, D, bias=False)
        self.residual = nn.Parameter(torch.randn(len(relations) + 2, D) * 0.02)
        self.one, self.two = nn.Linear(WIDTH + 4 * D + SCALARS, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.to_tail, self.to_relation = nn.Linear(WIDTH, D, bias=False), nn.Linear(WIDTH, D, bias=False)
        self.edge_state = nn.Linear(WIDTH, HIDDEN)
        self.edge_tail, self.edge_relation = nn.Linear(D, HIDDEN, bias=False), nn.Linear(D, HIDDEN, bias=False)
        self.edge_features, self.edge_linear = nn.Linear(FEATURES, HIDDEN, bias=False), nn.Linear(FEATURES, 1, bias=False)
        self.edge_hidden, self.edge_out = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1, bias=False)
        self.drop = nn.Dropout(0.2)

    def forward(self, b):
        e, r = torch.tanh(self.entity(statics[b["ids"]])), self.relation(names) + self.residual
        x = torch.cat([torch.relu(self.context(b["context"])), e[b["start"]], e[b["current"]], r[b["last"]], r[b["previous"]], b["scalars"]], 1)
        x = self.drop(torch.relu(self.one(self.drop(x))))
        x = self.drop(torch.relu(self.two(x)))
        s = b["state_of"]
        dots = (self.to_tail(x)[s] * e[b["tails"]]).sum(1) + (self.to_relation(x) @ r.T)[s, b["relations"]]
        mixed = self.edge_state(x)[s] + self.edge_relation(r)[b["relations"]] + self.edge_tail(e)[b["tails"]] + self.edge_features(b["features"])
        second = torch.relu(self.edge_hidden(torch.relu(mixed)))
        return dots / D**0.5 + self.edge_out(second).squeeze(1) + self.edge_linear(b["features"]).squeeze(1)


def batch_of(rows, of, cap):
    """Legal edges of the walks' states, staying among them at the second hop."""
    starts, middles = of[rows].T
    current = np.stack([starts, middles], 1).ravel()
    edges, state_of, stays = [], [], []
    for s, entity in enumerate(current):
        lo, n = begin[entity], begin[entity + 1] - begin[entity]
        own = lo + (rng.choice(n, cap, replace=False) if cap and n > cap else np.arange(n))
        stay = s % 2
        edges.append(np.append(own, -1) if stay else own)
        state_of.append(np.full(len(own) + stay, s))
    edges, state_of = np.concatenate(edges), np.concatenate(state_of)
    relation = np.where(edges < 0, STAY, rels[edges])
    tail = np.where(edges < 0, current[state_of], tails[edges])
    ids, local = np.unique(np.concatenate([np.repeat(starts, 2), current, tail]), return_inverse=True)
    n, t = len(current), torch.from_numpy
    counts = np.bincount(state_of, minlength=n)
    place = np.arange(len(edges)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = rng.integers(len(features) - len(edges)) if len(edges) < len(features) else 0
    return {
        "ids": t(ids), "start": t(local[:n]), "current": t(local[n : 2 * n]), "tails": t(local[2 * n :]),
        "relations": t(relation), "state_of": t(state_of), "place": t(place), "widest": int(counts.max()),
        "context": texts[t(np.repeat(rows % len(texts), 2))], "last": torch.full((n,), NONE), "previous": torch.full((n,), NONE),
        "scalars": torch.rand(n, SCALARS), "features": features[at : at + len(edges)], "gold": t(rng.integers(0, counts)),
    }


def loss_of(head, b):
    padded = torch.full((len(b["gold"]), b["widest"]), -1e9).index_put((b["state_of"], b["place"]), head(b))
    return F.cross_entropy(padded, b["gold"], reduction="sum")


head = Head()
steps = a.epochs * -(-len(train) // a.batch)
opt = torch.optim.AdamW(head.parameters(), lr=2e-3, weight_decay=1e-4, fused=True)
rate = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: min((s + 1) / 60, 0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * max(0, s - 60) / max(1, steps - 60)))))
clock, done = common.Clock(), 0
for epoch in range(a.epochs):
    head.train()
    shuffled = rng.permutation(len(train))
    for i in range(0, len(train), a.batch):
        rows = shuffled[i : i + a.batch]
        opt.zero_grad(set_to_none=True)
        (loss_of(head, batch_of(rows, train, CAP)) / len(rows)).backward()
        nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        opt.step()
        rate.step()
        done += 1
        if not a.whole and done == 10:
            clock.restart()
        if not a.whole and done > 10 and clock.used >= a.seconds:
            break
    if not a.whole:
        break
    head.eval()
    with torch.inference_mode():
        for i in range(0, len(valid), 64):
            loss_of(head, batch_of(np.arange(i, min(i + 64, len(valid))), valid, 0))
settings = {"data": "opendialkg", "batch": a.batch} | ({"epochs": a.epochs} if a.whole else {})
count = a.epochs * len(train) if a.whole else (done - 10) * a.batch
common.emit(f"torch {torch.__version__} eager", "clone" if a.whole else "clone-update", settings, count / clock.wall, "walks/s", clock.wall, clock.cpu)
