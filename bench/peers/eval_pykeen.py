"""Filtered link-prediction ranks with PyKEEN's RankBasedEvaluator on an untrained TransE."""
import logging

import common

p = common.parser(__doc__)
p.add_argument("--dim", type=int, default=100)
p.add_argument("--norm", type=int, default=1)
p.add_argument("--batch", type=int, default=128)
p.add_argument("--triples", type=int, default=1000, help="test triples a round; rounds continue until --seconds")
a = p.parse_args()
torch = common.set_torch_threads()
logging.disable(logging.WARNING)
import pykeen
from pykeen.evaluation import RankBasedEvaluator
from pykeen.models import TransE
from pykeen.triples import CoreTriplesFactory

kg = common.KG(a.data)
torch.manual_seed(a.seed)
factory = CoreTriplesFactory(torch.from_numpy(kg.train), num_entities=kg.ne, num_relations=kg.nr)
model = TransE(triples_factory=factory, embedding_dim=a.dim, scoring_fct_norm=a.norm, random_seed=a.seed).to("cpu")
known = [torch.from_numpy(kg.train), torch.from_numpy(kg.valid)]
evaluator = RankBasedEvaluator(filtered=True)


def rank(block):
    return evaluator.evaluate(model=model, mapped_triples=torch.from_numpy(block.copy()), batch_size=a.batch,
                              additional_filter_triples=known + [torch.from_numpy(kg.test)], use_tqdm=False)


rank(kg.test[: a.batch])
clock, n, i = common.Clock(), 0, 0
while clock.used < a.seconds:
    rank(kg.test[i : i + a.triples])
    n += 2 * a.triples
    i = (i + a.triples) % (len(kg.test) - a.triples)
common.emit(f"PyKEEN {pykeen.get_version()}", "link-eval", {"data": kg.name, "dim": a.dim, "norm": a.norm, "batch": a.batch},
            n / clock.wall, "queries/s", clock.wall, clock.cpu)
