/**
 * Think-on-Graph over whole sets: a beam is a relation path with everything it leads to, as in the paper's relation-based
 * variant. For models whose choices are scored by likelihood: they distinguish relations, but not the equal tails of one.
 */
import { canonicalOrder, entitiesOf } from '../../../src/kg/frontier.js';
import { unlessSpent } from '../facts.js';
import {
  frontierOf,
  namedInQuestion,
  narrowed,
  pathBlock,
  relationCandidates,
  stepWalk,
  type Walk,
  walkCandidate,
} from '../frontier-steps.js';
import type { TogAttempt } from './explore.js';
import { bestWays, judgeWaysTask } from './prompts.js';

interface SetBeam {
  walk: Walk;
  /** Product of the shares of its relations, in [0, 1]. */
  score: number;
  /** The same as a probability, with what the pre-filter decided; undefined from the first choice that was written. */
  confidence: number | undefined;
}

/** Best path found, also when the budget ended early. */
export async function walkSets(attempt: TogAttempt): Promise<Pick<SetBeam, 'walk' | 'confidence'> & { stop: string }> {
  const { start, settings, session } = attempt;
  let beams: SetBeam[] = [{ walk: start, score: 1, confidence: 1 }];
  const ended: SetBeam[] = [];
  const stop = await attempt.explored(async () => {
    const hops = await attempt.hops();
    for (let depth = 1; depth <= (hops ?? settings.depth); depth++) {
      const grown = await grownBeams(beams, attempt);
      session.trace({ event: 'graph', operation: `depth ${depth}: ${grown.length} ways`, reads: 0 });
      if (grown.length === 0) return 'half-stop';
      // What was likely step by step need not be so as a whole: all ways of the last step are judged.
      beams = depth === hops ? grown : grown.slice(0, settings.width);
      // With an unknown hop count, all paths are candidates at the end.
      if (hops === undefined) ended.push(...grown);
    }
    return hops === undefined ? 'depth' : 'hops';
  });
  return { ...(await bestOf(ended.length > 0 ? ended : beams, attempt)), stop };
}

/** All one relation further, best first: at most `width` ways out of each. */
async function grownBeams(beams: readonly SetBeam[], attempt: TogAttempt): Promise<SetBeam[]> {
  const { graph, settings, session } = attempt;
  const standing = beams.map((beam) => ({ ...beam, walk: narrowedWalk(beam.walk, attempt) }));
  await graph.ensure(entitiesOf(standing.map(({ walk }) => frontierOf(walk))), session.signal);
  const onward: number[][] = [];
  const alone: number[] = [];
  for (const { walk } of standing) {
    const { relations, share } = await attempt.onward(walk);
    onward.push(relations);
    alone.push(share);
  }
  const grown: SetBeam[] = [];
  const together = settings.share === 'beams' && new Set(onward.flat()).size > 1;
  const shared = together ? await weights(standing, [...new Set(onward.flat())], attempt) : undefined;
  for (const [i, beam] of standing.entries()) {
    const relations = onward[i]!;
    const own = shared ?? (await weights([beam], relations, attempt));
    const kept = relations.filter((relation) => (own.of.get(relation) ?? 0) > 0);
    kept.sort((a, b) => own.of.get(b)! - own.of.get(a)!);
    const sum = kept.reduce((total, relation) => total + own.of.get(relation)!, 0);
    const isTold = relations.length === 1 || own.areShares;
    for (const relation of kept.slice(0, settings.width)) {
      const share = own.of.get(relation)! / sum;
      const confidence = isTold && beam.confidence !== undefined ? beam.confidence * share * alone[i]! : undefined;
      grown.push({ walk: stepWalk(graph, beam.walk, relation), score: beam.score * share, confidence });
    }
  }
  return grown.sort((a, b) => b.score - a.score);
}

/** Weights of the relations after these beams; a single one costs no call. */
async function weights(
  beams: readonly SetBeam[],
  relations: readonly number[],
  attempt: TogAttempt,
): Promise<{ of: ReadonlyMap<number, number>; areShares: boolean }> {
  if (relations.length < 2) return { of: new Map(relations.map((relation) => [relation, 1])), areShares: true };
  const { graph, task, client } = attempt;
  const lines = [...new Set(beams.flatMap(({ walk }) => pathBlock(graph, walk).lines))];
  const scored = await attempt.parts.scorer(
    {
      ...{ task, what: 'relations', context: [{ label: 'Path', lines }] },
      subjects: [...new Set(beams.flatMap(({ walk }) => [...frontierOf(walk).entities]))],
      walked: beams[0]!.walk.relations.map((relation) => graph.relationNames[relation]!),
      candidates: relationCandidates(graph, relations),
    },
    client,
  );
  if (!scored) attempt.degraded = true;
  const of = new Map(relations.map((relation, i) => [relation, scored?.scores[i] ?? 0]));
  return { of, areShares: scored?.areShares ?? false };
}

/**
 * The walk with fewer entities, if there is a criterion: those named in the question, or of too many
 * those with the most paths. Otherwise unchanged. No call is made: a likelihood cannot rank equals.
 */
function narrowedWalk(walk: Walk, { graph, settings, task }: TogAttempt): Walk {
  const frontier = frontierOf(walk);
  if (walk.relations.length === 0 || frontier.entities.length < 2 || task.form === 'truth') return walk;
  const named = namedInQuestion(graph, task, [...frontier.entities]);
  if (named.length > 0) return narrowed(walk, new Set(named));
  if (frontier.entities.length <= settings.frontierLimit) return walk;
  return narrowed(walk, new Set(canonicalOrder(frontier).slice(0, settings.frontierLimit)));
}

/** One of the ways: what the model says to all of them, side by side, on the call that the budget keeps for it; else the best. */
async function bestOf(beams: readonly SetBeam[], attempt: TogAttempt): Promise<Pick<SetBeam, 'walk' | 'confidence'>> {
  const best = beams[0]!;
  if (beams.length < 2) return best;
  const decided = await unlessSpent(
    attempt.client.decide({
      ...{ ...attempt.about('judge', 'judge'), task: judgeWaysTask, examples: bestWays },
      candidates: beams.map(({ walk }) => walkCandidate(attempt.graph, walk)),
      ...{ withAnswers: false, final: true },
    }),
  );
  if (decided && !decided.reply) attempt.degraded = true;
  const chosen = beams[decided?.reply?.choice ?? -1];
  if (!chosen) return best;
  const isTold = chosen.confidence !== undefined && decided?.confidence !== undefined;
  return { walk: chosen.walk, confidence: isTold ? chosen.confidence! * decided.confidence! : undefined };
}
