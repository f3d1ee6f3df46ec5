/** One depth of Think-on-Graph: from the beams that stand to the best of those one edge longer. */
import { relationRange } from '../../../src/kg/frontier.js';
import type { Graph, Path } from '../../../src/kg/graph.js';
import type { Candidate } from '../../../src/llm/decision.js';
import { Rng } from '../../../src/run/seeds.js';
import { answersSwitch, pathText, relationCandidates } from '../frontier-steps.js';
import type { Attempt, WalkingParts } from '../walking-agent.js';
import type { Scorer } from './scorer.js';
import { z } from 'zod';
import { choice, whole } from '../../registry.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

export const togSettings = z.strictObject({
  width: whole(1, 20, 3).describe('Beams kept after every depth (N).'),
  depth: whole(1, 8, 3).describe('Longest path explored (D).'),
  prune: choice(['model', 'bm25', 'embedding'], 'model').describe(
    'Who scores relations and entities: the language model, word overlap, or sentence vectors (no calls).',
  ),
  ...prefilterSettings,
  share: choice(['none', 'beams'], 'none').describe(
    'One call per beam for its relations, or one shared by all beams of a depth (as in ToG-2).',
  ),
  hops: hopsOrEndSwitch,
  answers: answersSwitch,
  frontierLimit: whole(1, 100_000, 1000).describe(
    'Maximum entities of a whole set; of more, those with the most paths are kept.',
  ),
  maxCandidates: whole(2, 500, 20).describe('Entities of one relation that are scored; more are reduced first.'),
  reduction: choice(['first', 'sample'], 'first').describe(
    'How more entities than that are reduced: the first by id, or `retain` of them drawn by seed (the reference draws without one).',
  ),
  retain: whole(1, 100, 5).describe('Entities kept by `reduction: sample`.'),
  noReturn: choice(['edge', 'relation'], 'edge').describe(
    'What a path may not do next: walk back the edge it came by, or take the inverse of its last relation at all (the reference), which closes every question about "other films of the same director".',
  ),
  finalPolicy: choice(['triples', 'cot'], 'triples').describe(
    'What the answer rests on when the depth is exhausted: the facts found, or the model alone (as in the paper).',
  ),
});

export type TogSettings = z.output<typeof togSettings>;

/** A path under attempt: a real one, edge by edge, with its own last relation. */
export interface Beam {
  entity: number;
  path: Path;
  /** Product of the shares of every relation and entity on it, in [0, 1]. */
  score: number;
}

export type TogAttempt = Attempt<WalkingParts<TogSettings> & { scorer: Scorer }>;

/** Schema relations of Freebase that say nothing about the world. */
const schemaRelation = /^~?(?:type\.object\.(?:type|name)|common\.|freebase\.)|sameAs/;

/** The beams one edge further, best first, at most `width`; empty where no way leads on. */
export async function explore(beams: readonly Beam[], attempt: TogAttempt): Promise<Beam[]> {
  const standing = beams.map(({ entity }) => entity);
  await attempt.graph.ensure(standing, attempt.session.signal);
  const grown: Beam[] = [];
  const shared = attempt.settings.share === 'beams' && beams.length > 1;
  const ways = shared ? await scoredWays(beams, attempt) : [];
  for (const [i, beam] of beams.entries()) {
    const [way] = shared ? [ways[i]!] : await scoredWays([beam], attempt);
    for (const relation of keptRelations(way!, attempt)) grown.push(...(await grow(beam, relation, attempt)));
  }
  const ordered = grown.filter(({ score }) => score > 0).sort(byScore);
  // Two ways to one entity are one candidate: the better way.
  const reached = new Map<number, Beam>();
  for (const beam of ordered) if (!reached.has(beam.entity)) reached.set(beam.entity, beam);
  return [...reached.values()].slice(0, attempt.settings.width);
}

type Weighted = { relation: number; share: number };

/** Relations that each beam may follow with their scores, asked for together. */
async function scoredWays(beams: readonly Beam[], attempt: TogAttempt): Promise<Weighted[][]> {
  const { graph, settings, task, session } = attempt;
  const { scorer, prefilter } = attempt.parts;
  const offered: number[][] = [];
  for (const beam of beams) {
    attempt.graphReads += graph.degree(beam.entity);
    offered.push(await prefilter.keep(task, relationsOn(beam), relationsOf(graph, beam, settings), session.signal));
  }
  const relations = [...new Set(offered.flat())];
  if (relations.length === 0) return offered.map(() => []);
  const weigh = (score: (relation: number) => number) =>
    offered.map((own) => own.map((relation) => ({ relation, share: score(relation) })));
  // What the pre-filter left alone needs no call.
  if (relations.length === 1 && settings.prefilter !== 'none') return weigh(() => 1);
  const walked = beams.some(({ path }) => path.length > 0);
  const entities = [...new Set(beams.map(({ entity }) => entity))];
  const scored = await scorer(
    {
      task,
      what: 'relations',
      subjects: entities,
      context: [
        { label: 'Path', lines: [...new Set(beams.map((beam) => pathOf(graph, beam)))] },
        ...(walked ? [{ label: 'Entity', lines: entities.map((entity) => graph.entityNames[entity]!) }] : []),
      ],
      walked: relationsOn(beams[0]!).map((relation) => graph.relationNames[relation]!),
      candidates: relationCandidates(graph, relations),
    },
    session.client,
  );
  // A reply that cannot be read contributes nothing, as in the reference.
  if (!scored) attempt.degraded = true;
  const score = new Map(relations.map((relation, i) => [relation, scored?.scores[i] ?? 0]));
  return weigh((relation) => score.get(relation)!);
}

/** At most `width` of a beam's relations, with their shares. */
function keptRelations(scored: readonly Weighted[], { settings }: TogAttempt): Weighted[] {
  const kept = scored
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share || a.relation - b.relation)
    .slice(0, settings.width);
  const sum = kept.reduce((total, { share }) => total + share, 0);
  return kept.map(({ relation, share }) => ({ relation, share: share / sum }));
}

const relationsOn = ({ path }: Beam) => path.map(([, relation]) => relation);

function pathOf(graph: Graph, beam: Beam): string {
  return pathText(graph, { topics: [beam.path[0]?.[0] ?? beam.entity], relations: relationsOn(beam) });
}

/** Relations that lead from the beam's entity to where it may go, by name. */
function relationsOf(graph: Graph, beam: Beam, settings: TogSettings): number[] {
  const begin = graph.offsets[beam.entity]!;
  const relations = new Set(graph.relations.subarray(begin, begin + graph.degree(beam.entity)));
  const name = (relation: number) => graph.relationNames[relation]!;
  return [...relations]
    .filter((relation) => !schemaRelation.test(name(relation)) && tailsOf(graph, beam, relation, settings).length > 0)
    .sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

/** The beam along one relation, to each of the entities that were scored above 0. */
async function grow(beam: Beam, { relation, share }: Weighted, attempt: TogAttempt): Promise<Beam[]> {
  const { graph, task, session } = attempt;
  const tails = reduced(tailsOf(graph, beam, relation, attempt.settings), beam, relation, attempt);
  attempt.graphReads += tails.length;
  let weights: readonly number[] = tails.map(() => 1);
  if (tails.length > 1) {
    const candidates: Candidate[] = tails.map((entity) => ({
      kind: 'entity',
      entity,
      relation,
      text: graph.entityNames[entity]!,
    }));
    const way = `${graph.entityNames[beam.entity]!} → ${graph.relationNames[relation]!}`;
    const scored = await attempt.parts.scorer(
      {
        ...{ task, what: 'entities', subjects: [beam.entity], walked: [], candidates },
        context: [{ label: 'Path', lines: [way] }],
      },
      session.client,
    );
    if (scored) weights = scored.scores;
    else attempt.degraded = true;
  }
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return tails.map((entity, i) => ({
    entity,
    path: [...beam.path, [beam.entity, relation, entity] as const],
    score: sum > 0 ? (beam.score * share * weights[i]!) / sum : 0,
  }));
}

/** Tails of one relation, ascending, without the previous entity. */
function tailsOf(graph: Graph, { entity, path }: Beam, relation: number, { noReturn }: TogSettings): number[] {
  const [begin, end] = relationRange(graph, entity, relation);
  const tails = [...graph.tails.subarray(begin, end)];
  const last = path.at(-1);
  if (!last || graph.inverseOf[last[1]] !== relation) return tails;
  return noReturn === 'relation' ? [] : tails.filter((tail) => tail !== last[0]);
}

/** At most `maxCandidates` of them, the same ones every time. */
function reduced(tails: number[], beam: Beam, relation: number, { settings, task, parts }: TogAttempt): number[] {
  const { maxCandidates, reduction, retain } = settings;
  if (tails.length <= maxCandidates) return tails;
  if (reduction === 'first') return tails.slice(0, maxCandidates);
  const rng = Rng.named(parts.resources.seed, `tog/sample/${task.id}/${beam.entity}/${relation}`);
  return [...rng.shuffle(Int32Array.from(tails)).subarray(0, retain)].sort((a, b) => a - b);
}

function byScore(a: Beam, b: Beam): number {
  return b.score - a.score || a.path.at(-1)![1] - b.path.at(-1)![1] || a.entity - b.entity;
}
