/** One round of mapping for branches that share their calls: relations first, then the entities behind them. */
import type { Candidate, Example, MatchReply } from '../../../src/llm/decision.js';
import type { AcceptedStep, Exploration, Step } from './branch.js';
import { clueCount, clueIndices, type ClueSet } from './clues.js';
import * as prompts from './prompts.js';

/**
 * The steps that clues speak for: over a relation and to an entity that were mapped, or to every entity of a relation
 * that covers the last clue left.
 * @param steps all steps of all branches of the group
 * @param asked clues to map
 * @throws what the client throws, `BudgetSpent` among it
 */
export async function mappedSteps(
  steps: readonly Step[],
  asked: ClueSet,
  exploration: Exploration,
): Promise<AcceptedStep[]> {
  const { graph, settings, clues, namedBy, mayEnd } = exploration;
  const ask = { clues: asked, heads: [...new Set(steps.map(({ from }) => from.head))].sort((a, b) => a - b) };
  const relations = relationsByName(steps, exploration);
  const relationClues = await mapToClues(
    {
      ...ask,
      phase: 'relation-map',
      task: prompts.relationTask,
      examples: prompts.relationExamples,
      candidates: relations.map((relation) => ({ kind: 'relation', relation, text: graph.relationNames[relation]! })),
      threshold: settings.relationThreshold,
    },
    exploration,
  );
  const speaking = exploration.wholeSets ? clearest(relationClues) : relationClues;
  const covers = new Map(relations.map((relation, i) => [relation, speaking[i]!.clues]));
  const mapped: AcceptedStep[] = steps
    .filter(({ relation }) => covers.get(relation) !== 0)
    .map((step) => ({ ...step, covered: step.from.covered | covers.get(step.relation)!, named: false }));

  // Scoring the names of equals would throw right ones away.
  if (exploration.wholeSets) {
    const kinds = clues.all & ~clues.required;
    return mapped.filter(({ tail }) => mayEnd(tail)).map((step) => ({ ...step, covered: step.covered | kinds }));
  }
  const { offered, whole } = withinLimit(mapped, exploration);
  const distinct = [...new Map(offered.map((step) => [stepKey(step), step])).values()].sort(byNames(exploration));
  const candidates: Candidate[] = distinct.map(({ relation, tail }) => ({
    kind: 'entity',
    entity: tail,
    relation,
    text: `${graph.relationNames[relation]!} → ${graph.entityNames[tail]!}`,
  }));
  const entityClues = await mapToClues(
    {
      ...ask,
      phase: 'entity-map',
      task: prompts.entityTask,
      examples: prompts.entityExamples,
      candidates,
      threshold: settings.entityThreshold,
    },
    exploration,
  );
  const speaksFor = new Map(distinct.map((step, i) => [stepKey(step), entityClues[i]!.clues]));
  const accepted = offered.flatMap((step) => {
    const set = speaksFor.get(stepKey(step))!;
    return set === 0 ? [] : [{ ...step, covered: step.covered | set, named: namedBy.has(step.tail) }];
  });
  if (accepted.length > 0 || whole.length > 0 || !settings.multiAnswerRule) return [...accepted, ...whole];

  const types = clues.all & ~clues.required;
  return offered.flatMap((step) => {
    const open = clues.required & ~step.from.covered;
    const closes = clueCount(open) <= 1 && (open & ~step.covered) === 0;
    return closes && mayEnd(step.tail) ? [{ ...step, covered: step.covered | types }] : [];
  });
}

const stepKey = ({ relation, tail }: Step) => `${relation} ${tail}`;

/** Each relation once, by name: what a model is shown does not hang on ids. */
function relationsByName(steps: readonly Step[], { graph }: Exploration): number[] {
  const name = (relation: number) => graph.relationNames[relation]!;
  return [...new Set(steps.map(({ relation }) => relation))].sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

function byNames({ graph }: Exploration): (a: Step, b: Step) => number {
  const key = ({ relation, tail }: Step) => `${graph.relationNames[relation]!}\u0000${graph.entityNames[tail]!}`;
  return (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.tail - b.tail);
}

/** Clues that a candidate supports. */
interface Mapped {
  clues: ClueSet;
  /** The clue that it speaks for most clearly, and how clearly, of 10. */
  best: ClueSet;
  score: number;
}

/** Scores support many clues weakly: a relation is mapped to one clue, and only the clearest is followed. */
function clearest(mapped: readonly Mapped[]): Mapped[] {
  const most = mapped.reduce((best, { score }) => Math.max(best, score), 0);
  return mapped.map((one) => ({ ...one, clues: one.score > 0 && one.score === most ? one.best : 0 }));
}

/** Candidates of one kind, and the clues that they may speak for. */
interface MappingQuery {
  phase: 'relation-map' | 'entity-map';
  task: string;
  examples: readonly Example<MatchReply>[];
  candidates: readonly Candidate[];
  clues: ClueSet;
  /** Entities that the candidates hang on. */
  heads: readonly number[];
  threshold: number;
}

/**
 * The clues that each candidate was matched to, in the candidates' order. A batch whose reply cannot be read matches nothing.
 * @throws what the client throws, `BudgetSpent` among it
 */
async function mapToClues(query: MappingQuery, exploration: Exploration): Promise<Mapped[]> {
  const { settings, session, client, clues } = exploration;
  const asked = clueIndices(query.clues);
  const matched: Mapped[] = query.candidates.map(() => ({ clues: 0, score: 0, best: 0 }));
  for (let begin = 0; begin < query.candidates.length; begin += settings.batchSize) {
    const candidates = query.candidates.slice(begin, begin + settings.batchSize);
    const { reply } = await client.decide({
      ...{ ...exploration.about('match', query.phase), task: query.task, examples: query.examples },
      ...{ subjects: query.heads, candidates, targets: asked.map((clue) => clues.texts[clue]!) },
    });
    if (!reply) exploration.degraded = true;
    for (const { candidate, target, score } of reply?.matches ?? []) {
      const mapped = matched[begin + candidate]!;
      if (score >= query.threshold) mapped.clues |= 1 << asked[target]!;
      if (score >= query.threshold && score > mapped.score) Object.assign(mapped, { score, best: 1 << asked[target]! });
    }
    const hits = matched.slice(begin, begin + candidates.length).filter((mapped) => mapped.clues !== 0).length;
    const summary = `${hits} of ${candidates.length} candidates mapped to clues`;
    session.trace({ event: 'decision', phase: query.phase, summary });
  }
  return matched;
}

/**
 * Keeps the smallest relations that fit into `maxCandidates` together. The others are accepted whole or cut, as
 * `overflow` says; without the multi-answer rule nothing can be accepted whole. The trace records either case.
 * @returns `offered`: with a decision about their entities; `whole`: without, as their relation's clue speaks for all of them
 */
function withinLimit(steps: readonly AcceptedStep[], exploration: Exploration) {
  const { graph, settings, mayEnd, session } = exploration;
  const sized = [...new Set(steps.map(({ relation }) => relation))].map((relation) => {
    const group = steps.filter((step) => step.relation === relation);
    return { group, size: new Set(group.map(({ tail }) => tail)).size };
  });
  sized.sort((a, b) => a.size - b.size || a.group[0]!.relation - b.group[0]!.relation);

  const limited = { offered: [] as AcceptedStep[], whole: [] as AcceptedStep[] };
  let room = settings.maxCandidates;
  for (const { group, size } of sized) {
    if (size <= room) {
      limited.offered = [...limited.offered, ...group];
      room -= size;
      continue;
    }
    const relation = graph.relationNames[group[0]!.relation]!;
    if (settings.overflow === 'group' && settings.multiAnswerRule) {
      limited.whole = [...limited.whole, ...group.filter(({ tail }) => mayEnd(tail))];
      session.trace({ event: 'note', text: `${size} entities of ${relation} taken whole` });
    } else {
      const tails = [...new Set(group.map(({ tail }) => tail))].sort((a, b) => a - b);
      const kept = new Set(tails.slice(0, room));
      limited.offered = [...limited.offered, ...group.filter(({ tail }) => kept.has(tail))];
      session.trace({ event: 'note', text: `${size - kept.size} of ${size} entities of ${relation} cut` });
      room = 0;
    }
  }
  return limited;
}
