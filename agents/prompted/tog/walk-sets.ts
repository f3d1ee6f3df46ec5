/**
 * Think-on-Graph over whole sets: a beam is a relation path with everything it leads to, as in the paper's relation-based
 * variant. For models whose choices are scored by likelihood: they distinguish relations, but not the equal tails of one.
 */
import type { QuestionTask } from '../../../datasets/question.js';
import { canonicalOrder, entitiesOf } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';
import { BudgetSpent } from '../../../src/llm/decision.js';
import type { QuestionSession } from '../../question-agent.js';
import { unlessSpent } from '../facts.js';
import {
  frontierDegree,
  frontierOf,
  namedInQuestion,
  narrowed,
  onwardRelations,
  pathBlock,
  relationCandidates,
  startWalk,
  stepWalk,
  type Walk,
  walkCandidate,
} from '../frontier-steps.js';
import { type Prefilter, shareOf } from '../prefilter/prefilter.js';
import { bestWays, judgeWaysTask } from './prompts.js';
import type { Scorer } from './scorer.js';
import type { TogSettings } from './settings.js';

interface SetExploration {
  graph: Graph;
  settings: TogSettings;
  scorer: Scorer;
  prefilter: Prefilter;
  task: QuestionTask;
  session: QuestionSession;
  /** Number of relations of the question; undefined: paths of all lengths are judged together. */
  hops: number | undefined;
  /** Counts reads of the graph. */
  read: (edges: number) => void;
  /** Called where a reply could not be read. */
  degrade: () => void;
}

/** A relation path. */
interface SetBeam {
  walk: Walk;
  /** Product of the shares of its relations, in [0, 1]. */
  score: number;
  /** The same as a probability, with what the pre-filter decided; undefined from the first choice that was written. */
  confidence: number | undefined;
}

/** End of the exploration. */
export interface SetWalk {
  walk: Walk;
  stop: string;
  /** Product of the shares of its relations and of the last choice; undefined where one of these was written. */
  confidence: number | undefined;
}

/** Best path found, also when the budget ended early. */
export async function walkSets(exploration: SetExploration): Promise<SetWalk> {
  const { task, settings, hops, session } = exploration;
  let beams: SetBeam[] = [{ walk: startWalk(task), score: 1, confidence: 1 }];
  const start = beams[0]!;
  if (start.walk.topics.length === 0) return { walk: start.walk, stop: 'no-topic', confidence: 1 };
  const ended: SetBeam[] = [];
  let stop = hops === undefined ? 'depth' : 'hops';
  try {
    for (let depth = 1; depth <= (hops ?? settings.depth); depth++) {
      const grown = await grownBeams(beams, exploration);
      session.trace({ event: 'graph', operation: `depth ${depth}: ${grown.length} ways`, reads: 0 });
      if (grown.length === 0) {
        stop = 'half-stop';
        break;
      }
      // What was likely step by step need not be so as a whole: all ways of the last step are judged.
      beams = depth === hops ? grown : grown.slice(0, settings.width);
      // With an unknown hop count, all paths are candidates at the end.
      if (hops === undefined) ended.push(...grown);
    }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    stop = 'budget';
  }
  const { walk, confidence } = await bestOf(ended.length > 0 ? ended : beams, exploration);
  return { walk, stop, confidence };
}

/** All one relation further, best first: at most `width` ways out of each. */
async function grownBeams(beams: readonly SetBeam[], exploration: SetExploration): Promise<SetBeam[]> {
  const { graph, settings, prefilter, task, session, read } = exploration;
  const standing = beams.map((beam) => ({ ...beam, walk: narrowedWalk(beam.walk, exploration) }));
  await graph.ensure(entitiesOf(standing.map(({ walk }) => frontierOf(walk))), session.signal);
  const onward: number[][] = [];
  const alone: number[] = [];
  for (const { walk } of standing) {
    const frontier = frontierOf(walk);
    read(frontierDegree(graph, frontier));
    const relations = onwardRelations(graph, frontier, walk.excluded);
    const left = await prefilter.keep(task, walk.relations, relations, session.signal);
    onward.push(left);
    alone.push(left.length === 1 ? await shareOf(prefilter, task, walk.relations, relations, left, session.signal) : 1);
  }
  const grown: SetBeam[] = [];
  const together = settings.share === 'beams' && new Set(onward.flat()).size > 1;
  const shared = together ? await weights(standing, [...new Set(onward.flat())], exploration) : undefined;
  for (const [i, beam] of standing.entries()) {
    const relations = onward[i]!;
    const own = shared ?? (await weights([beam], relations, exploration));
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
  { graph, scorer, task, session, degrade }: SetExploration,
): Promise<{ of: ReadonlyMap<number, number>; areShares: boolean }> {
  if (relations.length < 2) return { of: new Map(relations.map((relation) => [relation, 1])), areShares: true };
  const lines = [...new Set(beams.flatMap(({ walk }) => pathBlock(graph, walk).lines))];
  const scored = await scorer(
    {
      ...{ task, what: 'relations', context: [{ label: 'Path', lines }] },
      subjects: [...new Set(beams.flatMap(({ walk }) => [...frontierOf(walk).entities]))],
      walked: beams[0]!.walk.relations.map((relation) => graph.relationNames[relation]!),
      candidates: relationCandidates(graph, relations),
    },
    session.client,
  );
  if (!scored) degrade();
  const of = new Map(relations.map((relation, i) => [relation, scored?.scores[i] ?? 0]));
  return { of, areShares: scored?.areShares ?? false };
}

/**
 * The walk with fewer entities, if there is a criterion: those named in the question, or of too many
 * those with the most paths. Otherwise unchanged. No call is made: a likelihood cannot rank equals.
 */
function narrowedWalk(walk: Walk, { graph, settings, task }: SetExploration): Walk {
  const frontier = frontierOf(walk);
  if (walk.relations.length === 0 || frontier.entities.length < 2 || task.form === 'truth') return walk;
  const named = namedInQuestion(graph, task, [...frontier.entities]);
  if (named.length > 0) return narrowed(walk, new Set(named));
  if (frontier.entities.length <= settings.frontierLimit) return walk;
  return narrowed(walk, new Set(canonicalOrder(frontier).slice(0, settings.frontierLimit)));
}

/** One of the ways: what the model says to all of them, side by side, on the call that the budget keeps for it; else the best. */
async function bestOf(
  beams: readonly SetBeam[],
  { graph, task, session, degrade }: SetExploration,
): Promise<Pick<SetWalk, 'walk' | 'confidence'>> {
  const best = beams[0]!;
  if (beams.length < 2) return best;
  const decided = await unlessSpent(
    session.client.decide({
      kind: 'judge',
      phase: 'judge',
      questionId: task.id,
      question: task.question,
      task: judgeWaysTask,
      examples: bestWays,
      evidence: [],
      candidates: beams.map(({ walk }) => walkCandidate(graph, walk)),
      withAnswers: false,
      final: true,
    }),
  );
  if (decided && !decided.reply) degrade();
  const chosen = beams[decided?.reply?.choice ?? -1];
  if (!chosen) return best;
  const isTold = chosen.confidence !== undefined && decided?.confidence !== undefined;
  return { walk: chosen.walk, confidence: isTold ? chosen.confidence! * decided.confidence! : undefined };
}
