"""TransE in PyKEEN: its own sLCWA training loop, Adam or Adagrad, margin ranking or self-adversarial loss."""
import logging
import warnings

import common

p = common.parser(__doc__)
p.add_argument("--dim", type=int, default=100)
p.add_argument("--negatives", type=int, default=1)
p.add_argument("--batch", type=int, default=1024)
p.add_argument("--lr", type=float, default=0.001)
p.add_argument("--optimizer", default="Adam", choices=["Adam", "Adagrad"])
p.add_argument("--loss", default="margin", choices=["margin", "nssa"])
p.add_argument("--margin", type=float, default=1.0)
p.add_argument("--quality", action="store_true", help="train --seconds from scratch, then rank the test subset")
a = p.parse_args()
torch = common.set_torch_threads()
logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")
import pykeen
from pykeen.losses import MarginRankingLoss, NSSALoss
from pykeen.models import TransE
from pykeen.training import SLCWATrainingLoop
from pykeen.training.callbacks import TrainingCallback
from pykeen.triples import CoreTriplesFactory

torch.manual_seed(a.seed)
kg = common.KG(a.data)
factory = CoreTriplesFactory(torch.from_numpy(kg.train), num_entities=kg.ne, num_relations=kg.nr)
loss = MarginRankingLoss(margin=a.margin) if a.loss == "margin" else NSSALoss(margin=a.margin, adversarial_temperature=0.5)
model = TransE(triples_factory=factory, embedding_dim=a.dim, scoring_fct_norm=1, loss=loss, random_seed=a.seed)
model.to("cpu")
opt = getattr(torch.optim, a.optimizer)(model.get_grad_params(), lr=a.lr)
clock = common.Clock()


class Stop(Exception):
    pass


class Watch(TrainingCallback):
    """Counts positives and stops at the time limit: PyKEEN's loop only knows epochs."""

    n, steps = 0, 0
    warm = 0 if a.quality else 5

    def on_batch(self, epoch, batch, batch_loss, **kw):
        self.steps += 1
        if self.steps == self.warm:
            clock.restart()
        elif self.steps > self.warm:
            self.n += len(batch["positives"])
            if clock.used >= a.seconds:
                self.end = clock.wall, clock.cpu
                raise Stop


watch = Watch()
loop = SLCWATrainingLoop(model=model, triples_factory=factory, optimizer=opt, negative_sampler="basic",
                         negative_sampler_kwargs={"num_negs_per_pos": a.negatives})
clock.restart()
try:
    loop.train(factory, num_epochs=100000, batch_size=a.batch, use_tqdm=False, use_tqdm_batch=False, num_workers=0,
               callbacks=watch, pin_memory=False)
except Stop:
    pass
wall, cpu = watch.end
settings = {"data": kg.name, "dim": a.dim, "negatives": a.negatives, "batch": a.batch, "optimizer": a.optimizer, "lr": a.lr,
            "loss": a.loss, "margin": a.margin}
q = None
if a.quality:
    weights = [of[0]().detach() for of in (model.entity_representations, model.relation_representations)]
    q = common.quality(common.transe_ranks(torch, *weights, kg.subset(), common.Filter(kg)))
    q["epochs"] = round(watch.n / len(kg.train), 1)
task = "transe-quality" if a.quality else "transe-train"
common.emit(f"PyKEEN {pykeen.get_version()}", task, settings, watch.n / wall, "positives/s", wall, cpu, q)
