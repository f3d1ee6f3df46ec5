/**
 * Think-on-Graph over whole sets: a beam is a relation path with everything it leads to, as in the paper's relation-based
 * variant. For models whose choices are scored by likelihood: they tell relations apart, not the equals that one leads to.
 */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Graph } from '../../../src/kg/graph.js';
import { BudgetSpent, type Candidate } from '../../../src/llm/decision.js';
import type { QuestionSession } from '../../question-agent.js';
import {
  frontierDegree,
  frontierOf,
  namedInQuestion,
  onwardRelations,
  pathBlock,
  relationCandidates,
  startWalk,
  stepWalk,
  type Walk,
  walkCandidate,
} from '../frontier-steps.js';
import type { Prefilter } from '../prefilter/prefilter.js';
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
  /** Relations that the question asks for; undefined: the ways of every length are judged together. */
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
}

/** Where the exploration ended. */
export interface SetWalk {
  walk: Walk;
  stop: string;
  /** Whether the model chose it among several. */
  judged: boolean;
  /** Product of the shares of its relations and of the verdict. */
  confidence: number;
}

/** The best way found, whatever the budget was. */
export async function walkSets(exploration: SetExploration): Promise<SetWalk> {
  const { task, settings, hops, session } = exploration;
  let beams: SetBeam[] = [{ walk: startWalk(task), score: 1 }];
  const start = beams[0]!;
  if (start.walk.topics.length === 0) return { walk: start.walk, stop: 'no-topic', judged: false, confidence: 1 };
  const ended: SetBeam[] = [];
  let stop = 'depth';
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
      // Where nobody knows how far to go, all ways met stand to choose from at the end.
      if (hops === undefined) ended.push(...grown);
    }
    const finals = hops === undefined && ended.length > 0 ? ended : beams;
    const { best, confidence, judged } = await bestOf(finals, exploration);
    return { walk: best.walk, stop: judged ? 'suffices' : stop, judged, confidence };
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    return { walk: beams[0]!.walk, stop: 'budget', judged: false, confidence: beams[0]!.score };
  }
}

/** All one relation further, best first: at most `width` ways out of each. */
async function grownBeams(beams: readonly SetBeam[], exploration: SetExploration): Promise<SetBeam[]> {
  const { graph, settings, prefilter, task, read } = exploration;
  const narrowed: SetBeam[] = [];
  for (const beam of beams) narrowed.push({ ...beam, walk: await narrowedWalk(beam.walk, exploration) });
  const onward: number[][] = [];
  for (const { walk } of narrowed) {
    const frontier = frontierOf(walk);
    read(frontierDegree(graph, frontier));
    onward.push(await prefilter.keep(task, walk.relations, onwardRelations(graph, frontier, walk.excluded)));
  }
  const grown: SetBeam[] = [];
  const together = settings.share === 'beams' && new Set(onward.flat()).size > 1;
  const shared = together ? await weights(narrowed, [...new Set(onward.flat())], exploration) : undefined;
  for (const [i, beam] of narrowed.entries()) {
    const relations = onward[i]!;
    const own = shared ?? (await weights([beam], relations, exploration));
    const kept = relations.filter((relation) => (own.get(relation) ?? 0) > 0);
    kept.sort((a, b) => own.get(b)! - own.get(a)!);
    const sum = kept.reduce((total, relation) => total + own.get(relation)!, 0);
    for (const relation of kept.slice(0, settings.width)) {
      grown.push({ walk: stepWalk(graph, beam.walk, relation), score: (beam.score * own.get(relation)!) / sum });
    }
  }
  return grown.sort((a, b) => b.score - a.score);
}

/** What the relations weigh behind these beams; one alone costs no call. */
async function weights(
  beams: readonly SetBeam[],
  relations: readonly number[],
  { graph, scorer, task, session, degrade }: SetExploration,
): Promise<ReadonlyMap<number, number>> {
  if (relations.length < 2) return new Map(relations.map((relation) => [relation, 1]));
  const lines = [...new Set(beams.flatMap(({ walk }) => pathBlock(graph, walk).lines))];
  const scores = await scorer(
    {
      ...{ task, what: 'relations', context: [{ label: 'Path', lines }] },
      subjects: [...new Set(beams.flatMap(({ walk }) => [...frontierOf(walk).entities]))],
      walked: beams[0]!.walk.relations.map((relation) => graph.relationNames[relation]!),
      candidates: relationCandidates(graph, relations),
    },
    session.client,
  );
  if (!scores) degrade();
  return new Map(relations.map((relation, i) => [relation, scores?.[i] ?? 0]));
}

/**
 * The walk with fewer entities where there is something to tell them by: the question names some of them, or there are too many
 * to go on with. Otherwise as it is, without a call.
 */
async function narrowedWalk(walk: Walk, exploration: SetExploration): Promise<Walk> {
  const { graph, settings, task, scorer, session, degrade } = exploration;
  const { entities, counts } = frontierOf(walk);
  if (walk.relations.length === 0 || entities.length < 2 || task.form === 'truth') return walk;
  const named = namedInQuestion(graph, task, [...entities]);
  if (named.length === 0 && entities.length <= settings.frontierLimit) return walk;
  const offered = [...new Set([...named, ...entities])].slice(0, settings.maxCandidates);
  const relation = walk.relations.at(-1)!;
  const candidates: Candidate[] = offered.map((entity) => {
    return { kind: 'entity', entity, relation, text: graph.entityNames[entity]! };
  });
  const scores = await scorer(
    {
      ...{ task, what: 'entities', context: [pathBlock(graph, walk)], walked: [], candidates },
      subjects: [...walk.frontiers.at(-2)!.entities],
    },
    session.client,
  );
  if (!scores) degrade();
  const kept = new Set(offered.filter((_, i) => (scores?.[i] ?? 0) > 0));
  if (kept.size === 0) return walk;
  const places = [...entities.keys()].filter((i) => kept.has(entities[i]!));
  const frontier = {
    entities: Int32Array.from(places, (i) => entities[i]!),
    counts: Float64Array.from(places, (i) => counts[i]!),
  };
  return { ...walk, frontiers: [...walk.frontiers.slice(0, -1), frontier] };
}

/** One of the ways: what the model says to all of them, side by side. */
async function bestOf(
  beams: readonly SetBeam[],
  { graph, task, session, degrade }: SetExploration,
): Promise<{ best: SetBeam; confidence: number; judged: boolean }> {
  const best = beams[0]!;
  if (beams.length < 2) return { best, confidence: best.score, judged: false };
  const { reply, confidence } = await session.client.decide({
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
  });
  if (!reply) degrade();
  const chosen = beams[reply?.choice ?? -1];
  const taken = chosen ?? best;
  return { best: taken, confidence: taken.score * (confidence ?? 1), judged: chosen !== undefined };
}
