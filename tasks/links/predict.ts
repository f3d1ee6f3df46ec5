/** `kgwalk predict` on links: the likeliest triples that train and valid lack. */
import { boundedHeap } from '../../agents/bounded-heap.js';
import { logSumExp } from '../../agents/link-ensemble.js';
import type { LinkRanker } from '../../agents/link-ranker.js';
import { type LinkDataset, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { resolveRelation } from '../../datasets/links/resolve-names.js';
import { linkWalkSettings } from '../../envs/settings.js';
import { knownAnswers, withInverses } from '../../src/embedding/known-answers.js';
import { headsByRelation } from '../../src/kg/adjacency.js';
import { printable } from '../../src/run/printable.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { answererText } from '../answer-frame.js';
import { type PredictFlags, wholeNumber } from '../flags.js';
import { membersOf, type Predicted, type Resolved, type Work } from '../task.js';
import { type OpenedRanker, openRanker } from './agents.js';
import { type Answer, answersIn, type Query, reasonsText, refuseUnranked } from './ask.js';
import { linkDatasetName } from './data.js';

/** A predicted triple; `tail` and `tailId` are its name and id. */
interface Prediction extends Pick<Answer, 'path' | 'words' | 'reasons' | 'rules'> {
  head: string;
  headId: string;
  relation: string;
  tail: string;
  tailId: string;
  /** In [0, 1], of heads and relations alike: see `meanings`. */
  score: number;
  /** Test holds it; others are unjudged. */
  test: boolean;
}

/** Largest `--top`. */
const most = 100_000;

/** Meaning of the scores, by the scale of the ranker. */
const meanings = {
  'log-probability': 'probability that a walk from the head ends on the tail',
  precision: 'precision on train of the best rules that lead to the tail, taken together',
  softmax: 'share of the tail in the softmax over all entities',
};

/** Ranks the tails of each head; keeps the best of them all, then asks for their reasons. */
export async function predictLinks(which: Resolved, flags: PredictFlags, work: Work): Promise<Predicted> {
  const top = wholeNumber(flags.top ?? '100', '--top', 1, most);
  refuseUnranked(which, flags);
  const runs = which.trained ? membersOf(which.trained).map(({ run }) => run) : [];
  const dataset = await loadLinkDataset(linkDatasetName(flags.dataset, runs));
  const plain = dataset.graph.numRelations / 2;
  const given = [...new Set(flags.relation.map((name) => resolveRelation(dataset, name)))];
  const relations = given.length > 0 ? given : Array.from({ length: plain }, (_, id) => id);
  const { horizon } = linkWalkSettings.parse(runs.at(-1)?.config.linkWalk ?? {});
  const asked = new Set(relations.map((relation) => relation % plain));
  const opened = await openRanker(which, dataset, horizon, { flags, runs, work, relations: asked });
  try {
    const kept = await bestTriples(headsOf(dataset, relations, flags.allHeads), dataset, opened, {
      ...{ top, each: flags.each, work },
    });
    const predictions = await explained(kept, dataset, opened, work);
    return shown(predictions, meanings[opened.ranker.scale ?? 'softmax'], dataset, which);
  } finally {
    await opened.close?.();
  }
}

/** Heads of each relation, those that train has of it unless `all`: ascending, with an edge in train. */
function headsOf({ graph }: LinkDataset, relations: readonly number[], all = false): Map<number, number[]> {
  if (all) {
    const everyone = Array.from({ length: graph.numEntities }, (_, head) => head);
    const walkable = everyone.filter((head) => graph.offsets[head]! < graph.offsets[head + 1]!);
    return new Map(relations.map((relation) => [relation, walkable]));
  }
  const wanted = new Set(relations);
  const heads = headsByRelation(graph, graph.numRelations, (relation) => wanted.has(relation));
  return new Map(relations.map((relation) => [relation, heads[relation]!]));
}

interface Limits {
  top: number;
  each?: boolean | undefined;
  work: Work;
}

/** Best first, of each relation where `each`; memory holds `top` triples, not all that are scored. */
async function bestTriples(
  heads: ReadonlyMap<number, readonly number[]>,
  { graph, train, valid }: LinkDataset,
  { ranker, pooling }: OpenedRanker,
  { top, each, work }: Limits,
): Promise<Triple[]> {
  const known = withInverses(knownAnswers([train, valid]), graph.numRelations / 2);
  const heap = boundedHeap(top);
  const total = [...heads.values()].reduce((sum, { length }) => sum + length, 0);
  const line = work.progress('rank tails', total, 'heads');
  const drained = () => heap.drain().map(({ a, b, value }): Triple => ({ head: a, relation: value, tail: b }));
  let kept: Triple[] = [];
  let done = 0;
  let order = 0;
  for (const [relation, own] of heads) {
    const questions = own.map((head): Query => ({ head, relation }));
    for (let begin = 0; begin < questions.length; begin += ranker.batchSize) {
      const batch = questions.slice(begin, begin + ranker.batchSize);
      await ranker.rank(batch, (i, { scores: all }) => {
        throwIfStopped(work.signal);
        const { head } = batch[i]!;
        const scores = all.at(pooling === 'sum' ? -1 : 0)!;
        const norm = normOf(ranker, scores);
        const tails = known.tailsOf(head, relation);
        for (let tail = 0, at = 0; tail < scores.length; tail++) {
          if (tails[at] === tail) at++;
          else if (scores[tail]! > -Infinity) heap.offer(scores[tail]! - norm, order++, head, tail, relation);
        }
        line.update(++done);
      });
    }
    if (each) kept = kept.concat(drained());
  }
  line.finish(`${done} heads`);
  return kept.concat(drained());
}

type Triple = Query & { tail: number };

/** Number to subtract from scores, so that those of different questions compare: log-sum-exp, or 0 where they have a scale. */
const normOf = ({ scale }: LinkRanker, scores: Float64Array) => (scale === undefined ? logSumExp(scores) : 0);

/** The triples with their scores and reasons, in their order. */
async function explained(
  triples: readonly Triple[],
  dataset: LinkDataset,
  { ranker, pooling }: OpenedRanker,
  { signal }: Work,
): Promise<Prediction[]> {
  const { graph, labels } = dataset;
  const predictions = new Map<Triple, Prediction>();
  const groups = [...Map.groupBy(triples, ({ head, relation }) => head * graph.numRelations + relation).values()];
  for (let begin = 0; begin < groups.length; begin += ranker.batchSize) {
    const batch = groups.slice(begin, begin + ranker.batchSize);
    await ranker.rank(
      batch.map(([question]) => question!),
      (i, ranked) => {
        throwIfStopped(signal);
        const { head, relation } = batch[i]![0]!;
        const { scores, answerOf } = answersIn(ranked, { head, relation }, dataset, pooling);
        const norm = normOf(ranker, scores);
        for (const triple of batch[i]!) {
          const { entity, id, score, known, ...why } = answerOf(triple.tail);
          predictions.set(triple, {
            ...{ head: labels[head]!, headId: graph.entityName(head)!, relation: graph.relationNames[relation]! },
            ...{ tail: entity, tailId: id, score: ranker.scale === 'precision' ? score : Math.exp(score - norm) },
            ...{ test: known, ...why },
          });
        }
      },
    );
  }
  return triples.map((triple) => predictions.get(triple)!);
}

function shown(
  predictions: readonly Prediction[],
  meaning: string,
  { manifest: { name } }: LinkDataset,
  which: Resolved,
): Predicted {
  const inTest = predictions.filter(({ test }) => test).length;
  const rows = predictions.map((one, i) => ({
    ...{ rank: i + 1, head: one.head, relation: one.relation, tail: one.tail, score: one.score.toPrecision(3) },
    ...{ test: one.test ? 'yes' : '', why: reasonsText(one) ?? '' },
  }));
  const columns = ['head_id', 'relation', 'tail_id', 'score', 'test', 'head', 'tail', 'why'];
  const lines = predictions.map((one) => [
    ...[one.headId, one.relation, one.tailId, String(one.score), String(Number(one.test))],
    ...[one.head, one.tail, reasonsText(one) ?? ''],
  ]);
  return {
    json: { dataset: name, score: meaning, inTest, predictions },
    sections: [
      predictions.length > 0 ? { title: '', rows } : { title: '', lines: ['no triple is missing that it leads to'] },
      {
        title: '',
        lines: [
          `score: ${meaning}`,
          `test holds ${inTest} of these ${predictions.length}; the others are unjudged, not wrong`,
          `predicted by ${answererText(which)}, over triples of train of ${name}; known ones of train and valid are left out`,
        ],
      },
    ],
    tsv: [columns, ...lines].map((cells) => `${cells.map((cell) => printable(cell)).join('\t')}\n`).join(''),
  };
}
