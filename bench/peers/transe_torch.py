"""TransE by hand in PyTorch: sparse embeddings, Adagrad, L1, negatives drawn for each positive."""
import warnings

import common

p = common.parser(__doc__)
p.add_argument("--dim", type=int, default=100)
p.add_argument("--negatives", type=int, default=1)
p.add_argument("--batch", type=int, default=1024)
p.add_argument("--lr", type=float, default=0.1)
p.add_argument("--margin", type=float, default=9.0)
p.add_argument("--adversarial", type=float, default=0.5, help="temperature of self-adversarial weights; 0: plain mean")
p.add_argument("--quality", action="store_true", help="train --seconds from scratch, then rank the test subset")
a = p.parse_args()
torch = common.set_torch_threads()
warnings.filterwarnings("ignore")
F = torch.nn.functional
torch.manual_seed(a.seed)
kg = common.KG(a.data)
train = torch.from_numpy(kg.train)
span = (a.margin + 2) / a.dim
ent = torch.nn.Embedding(kg.ne, a.dim, sparse=True)
rel = torch.nn.Embedding(kg.nr, a.dim, sparse=True)
for e in (ent, rel):
    torch.nn.init.uniform_(e.weight, -span, span)
opt = torch.optim.Adagrad([ent.weight, rel.weight], lr=a.lr)


def step(b, corrupt_tail):
    h, r, t = ent(b[:, 0]), rel(b[:, 1]), ent(b[:, 2])
    q = h + r if corrupt_tail else t - r
    neg = ent(torch.randint(kg.ne, (len(b), a.negatives)))
    d_neg = (q.unsqueeze(1) - neg).abs().sum(-1)
    d_pos = (h + r - t).abs().sum(-1)
    each = F.logsigmoid(d_neg - a.margin)
    if a.adversarial and a.negatives > 1:
        w = torch.softmax(-d_neg.detach() * a.adversarial, -1)
        l_neg = (w * each).sum(-1)
    else:
        l_neg = each.mean(-1)
    loss = -(F.logsigmoid(a.margin - d_pos).mean() + l_neg.mean()) / 2
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()


def batches():
    side = 0
    while True:
        for b in train[torch.randperm(len(train))].split(a.batch):
            side ^= 1
            if len(b) >= 8:
                yield b, bool(side)


settings = {"data": kg.name, "dim": a.dim, "negatives": a.negatives, "batch": a.batch, "optimizer": "sparse Adagrad",
            "lr": a.lr, "loss": "logsigmoid", "margin": a.margin}
stream = batches()
if not a.quality:
    for _ in range(5):
        step(*next(stream))
clock, n = common.Clock(), 0
while clock.used < a.seconds:
    b, side = next(stream)
    step(b, side)
    n += len(b)
wall, cpu = clock.wall, clock.cpu
q = None
if a.quality:
    q = common.quality(common.transe_ranks(torch, ent.weight, rel.weight, kg.subset(), common.Filter(kg)))
    q["epochs"] = round(n / len(train), 1)
task = "transe-quality" if a.quality else "transe-train"
common.emit(f"torch {torch.__version__} by hand", task, settings, n / wall, "positives/s", wall, cpu, q)
