/** All that can be said of leaks from a split into a run: what was looked for and not found, and what cannot be excluded. */
import type { QuestionSample } from '../../datasets/question.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { ProvenanceRecord } from '../../src/run/provenance.js';
import { artifactRows, type ArtifactRow } from './artifact-rows.js';
import { countChecks, type CountCheck } from './count-shares.js';
import type { KnownSamples, AnySample } from './known-samples.js';
import type { Graph } from '../../src/kg/graph.js';
import { bootstrapMeans, groupDifference } from '../../src/metrics/bootstrap.js';
import type { Estimate } from '../../src/run/figures.js';

/** Provenance of one agent. */
export interface NotedAgent {
  /** `run` for the run itself, else the name of an evaluation. */
  of: string;
  /** True if it is the checked agent, not one evaluated with it. */
  own: boolean;
  /** Absent: nothing was noted. */
  record: ProvenanceRecord | undefined;
}

/** Findings of `kgwalk datasets check --run`, and what it cannot exclude. */
export interface LeakReport {
  dataset: string;
  graph: string;
  split: string;
  samples: number;
  /** Parts of the checked agent with unknown sources. */
  unknown: string[];
  artifacts: ArtifactRow[];
  /** Expected artifacts without noted sources. */
  notNoted: string[];
  cut: GraphCut;
  targets: SeenUnseen[];
  /** Counts on dialogues; questions have no edges as candidates. */
  counts: CountCheck[];
  /** One sentence for each leak of what is checked. */
  found: string[];
  /** The same for agents evaluated with it. */
  foundBeside: string[];
}

/** Input of a report. */
export interface LeakReportParts {
  dataset: string;
  known: KnownSamples<WalkSample> | KnownSamples<QuestionSample>;
  /** True if the graph's entities may have been chosen by the dialogues: see `graphCut`. */
  chosen: boolean;
  agents: readonly NotedAgent[];
  /** Kinds and names of artifacts that a run of these settings makes, such as `training: PPO`. */
  expected: readonly string[];
  /** Results of evaluations on the split. */
  targets: readonly SeenUnseen[];
}

/** @throws WorkbenchError `data` for a record that cannot be read */
export function leakReport({ dataset, known, chosen, agents, expected, targets }: LeakReportParts): LeakReport {
  const { asked } = known;
  const noted = agents.flatMap(({ of, record }) => (record ? [{ of, record }] : []));
  const artifacts = noted.flatMap(({ of, record }) => artifactRows(of, record, known as KnownSamples));
  const run = noted.find(({ of }) => of === 'run');
  const own = new Set(agents.flatMap((agent) => (agent.own ? [agent.of] : [])));
  const made = new Set(artifacts.flatMap(({ of, kind, name }) => (of === 'run' ? [kind, `${kind}: ${name}`] : [])));
  const cut = graphCut(known as KnownSamples, chosen);
  const counts = isDialogues(known) ? countChecks(known, noted) : [];
  const findings = [
    ...artifacts
      .filter(({ verdict }) => verdict === 'found')
      .map((row) => ({ of: row.of, text: artifactText(row, asked.name) })),
    ...counts
      .filter(({ monotone }) => !monotone)
      .flatMap(({ count, usedBy }) => usedBy.map((of) => ({ of, text: countText(count, of) }))),
    ...targets
      .filter(({ verdict }) => verdict === 'above' || (verdict === 'not below' && cut.restricted))
      .map((target) => ({ of: target.evaluation, text: targetText(target) })),
  ];
  return {
    dataset,
    graph: known.graph.name,
    split: asked.name,
    samples: asked.samples.length,
    unknown: agents.flatMap(({ of, own: isOwn, record }) => (record || !isOwn ? [] : [of])),
    artifacts,
    notNoted: run ? expected.filter((wanted) => !made.has(wanted)) : [],
    cut,
    targets: [...targets],
    counts,
    found: findings.filter(({ of }) => own.has(of)).map(({ text }) => text),
    foundBeside: findings.filter(({ of }) => !own.has(of)).map(({ text }) => text),
  };
}

const isDialogues = (known: LeakReportParts['known']): known is KnownSamples<WalkSample> =>
  known.asked.samples.some(({ task }) => 'messages' in task);

function artifactText({ of, kind, name, byId, why }: ArtifactRow, split: string): string {
  return `${of}: ${kind} "${name}": ${why ?? `made from ${byId} samples of ${split}`}`;
}

const countText = (count: string, of: string): string =>
  `${of}: its counts (${count}) mark the answer: P(gold | count) falls where the count rises`;

const targetText = ({ evaluation, metric, verdict }: SeenUnseen): string =>
  `${evaluation}: ${metric} on targets that train never had is ${verdict === 'above' ? 'above' : 'not clearly below'} that on those it had, on ${verdict === 'above' ? 'any graph' : 'a graph cut to dialogue entities'} the sign of a leak`;

/** Users of the entities of a graph. */
interface GraphCut {
  graph: string;
  entities: number;
  /** Entities in gold paths of train (of questions: topics and answers). */
  inTrain: number;
  /** Entities of other splits' golds that no train gold has. */
  onlyElsewhere: number;
  /** Number of those from the given split. */
  onlyAsked: number;
  /** Entities of no gold at all. */
  inNone: number;
  /**
   * Whether the graph looks cut to the entities of its dialogues: a third or more of the entities that train never used are
   * there because another split uses them. Then any feature that separates such entities leaks.
   */
  restricted: boolean;
  /** Golds of the asked split that the graph holds whole: expected, and what makes them walkable. */
  golds: { samples: number; inGraph: number };
}

/** OpenDialKG has 53 % on the graph that was cut, 1 % on the wide one. */
const restrictedFrom = 1 / 3;

/** @param chosen whether the entities may have been chosen by dialogues at all: not of a world that a program made whole */
export function graphCut({ graph, splits, asked }: KnownSamples, chosen: boolean): GraphCut {
  const train = entitiesOf(splits.filter(({ role }) => role === 'train').flatMap(({ samples }) => samples));
  const others = entitiesOf(splits.flatMap(({ role, samples }) => (role === 'train' ? [] : samples)));
  const ofAsked = entitiesOf(asked.samples);
  const unseen = [...others].filter((entity) => !train.has(entity));
  const inNone = graph.numEntities - train.size - unseen.length;
  return {
    graph: graph.name,
    entities: graph.numEntities,
    inTrain: train.size,
    onlyElsewhere: unseen.length,
    onlyAsked: unseen.filter((entity) => ofAsked.has(entity)).length,
    inNone,
    restricted: chosen && unseen.length > 0 && unseen.length / (unseen.length + inNone) >= restrictedFrom,
    golds: { samples: asked.samples.length, inGraph: asked.samples.filter((sample) => goldIn(sample, graph)).length },
  };
}

/** Entities of the golds, those that the graph has. */
export function entitiesOf(samples: readonly AnySample[]): Set<number> {
  const entities = new Set<number>();
  for (const { task, gold } of samples) {
    if ('path' in gold) for (const [head, , tail] of gold.path) entities.add(head).add(tail);
    else {
      for (const { entity } of gold.answers) entities.add(entity);
      if ('topics' in task) for (const { entity } of task.topics) entities.add(entity);
    }
  }
  entities.delete(-1);
  return entities;
}

const goldIn = ({ gold }: AnySample, { numEntities }: Graph): boolean =>
  'inGraph' in gold ? gold.inGraph : gold.answers.some(({ entity }) => entity >= 0 && entity < numEntities);

/**
 * `below`: the interval of seen − unseen lies above 0; `above`: it lies below 0; `not below`: it holds 0 although there are
 * enough unseen targets to see a difference of some points; `too few` to say.
 */
type SeenUnseenVerdict = 'below' | 'not below' | 'above' | 'too few';

/** Scores of one evaluation on targets that train had, and on those it had not. */
export interface SeenUnseen {
  evaluation: string;
  agent: string;
  metric: string;
  /** Absent where no target is of that kind. */
  seen?: Estimate | undefined;
  unseen?: Estimate | undefined;
  /** Seen − unseen. */
  difference?: Estimate;
  verdict: SeenUnseenVerdict;
}

export interface ScoredTarget {
  cluster: string;
  /** True if the target occurs in train. */
  seen: boolean;
  /** In [0, 1]. */
  score: number;
}

/** With fewer unseen targets, no difference says nothing: of 100 at 20 %, the standard error is 4 points. */
const enough = 100;

/** With fewer, a percentile interval is no interval. */
const fewest = 20;

/** The scores on both kinds, their difference, and what it says. */
export function seenUnseen(
  about: Pick<SeenUnseen, 'evaluation' | 'agent' | 'metric'>,
  targets: readonly ScoredTarget[],
): SeenUnseen {
  const scoresOf = (some: readonly ScoredTarget[]) => some.map(({ score }) => score);
  const clustersOf = (some: readonly ScoredTarget[]) => some.map(({ cluster }) => cluster);
  const meanOf = (some: readonly ScoredTarget[]) =>
    some.length > 0 ? bootstrapMeans([scoresOf(some)], clustersOf(some), { shares: [true] })[0] : undefined;
  const isSeen = targets.map(({ seen }) => seen);
  const unseen = targets.filter(({ seen }) => !seen);
  const estimates = { seen: meanOf(targets.filter(({ seen }) => seen)), unseen: meanOf(unseen) };
  if (!estimates.seen || !estimates.unseen) return { ...about, ...estimates, verdict: 'too few' };
  const difference = groupDifference(scoresOf(targets), isSeen, clustersOf(targets));
  const few = unseen.length < (difference.low <= 0 && difference.high >= 0 ? enough : fewest);
  const verdict = few ? 'too few' : difference.low > 0 ? 'below' : difference.high < 0 ? 'above' : 'not below';
  return { ...about, ...estimates, difference, verdict };
}
