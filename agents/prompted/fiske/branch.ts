/** Branches of an exploration, their ways, and the steps out of them. At one entity with the same clues covered there is one. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Path } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';
import type { Attempt, WalkingParts } from '../walking-agent.js';
import { clueCount, type Clues, type ClueSet, type WordIndex } from './clues.js';
import { z } from 'zod';
import { choice, flag, real, whole } from '../../registry.js';
import { answersSwitch } from '../frontier-steps.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

export const fiskeSettings = z.strictObject({
  stateful: flag(true).describe('Map only clues that are not covered yet; off: all clues, every time.'),
  earlyStop: flag(true).describe('A branch that covers every clue ends all others.'),
  gateAnswer: flag(true).describe(
    'Without full coverage the model answers alone; off: from the partial branches, merged.',
  ),
  multiAnswerRule: flag(true).describe(
    'All tails count as answers where one clue is left, a relation covers it and no entity was mapped; off: such a branch ends.',
  ),
  zeroCallShortcut: flag(true).describe(
    'A neighbour whose name is a clue is taken without a call, and nothing else of that head is.',
  ),
  backtracking: choice(['other-facts', 'never', 'always'], 'other-facts').describe(
    'Steps straight back to where a branch came from: over another fact than the one that led here, never (as in the reference), or always.',
  ),
  startPolicy: choice(['joint', 'sequential'], 'joint').describe(
    'All start nodes as one frontier, or one after the other until one reaches full coverage.',
  ),
  order: choice(['whole-frontier', 'best-first'], 'whole-frontier').describe(
    'Level by level, or the branches with most covered clues first.',
  ),
  share: choice(['clues', 'relations', 'none'], 'clues').describe(
    'Heads that share a mapping call: those with the same uncovered clues, those with the same relations as well, or none.',
  ),
  ...prefilterSettings,
  hops: hopsOrEndSwitch,
  clues: choice(['auto', 'model', 'names'], 'auto').describe(
    'Where clues come from: the model writes them, or they are the names of the graph in the question and its other words, without a call; auto is the latter where candidates are scored by likelihood.',
  ),
  answers: answersSwitch,
  batchSize: whole(1, 100, 20).describe('Candidates a mapping call.'),
  relationThreshold: whole(0, 10, 5).describe('Least score of a mapped relation.'),
  entityThreshold: whole(0, 10, 1).describe('Least score of a mapped entity.'),
  maxCandidates: whole(1, 2000, 80).describe('Entities that one mapping may be asked about.'),
  overflow: choice(['group', 'truncate'], 'group').describe(
    'More entities than that: the largest relations are accepted whole on the strength of their clue, without a call, or the rest is cut (as in the reference).',
  ),
  maxHops: whole(1, 6, 3).describe('Longest branch; the number of clues bounds it too.'),
  maxClues: whole(2, 16, 8).describe('Clues asked for.'),
  maxStarts: whole(1, 100, 5).describe('Entities of one name that become start nodes.'),
  nameMatch: real(0.5, 1, 0.9).describe('Share of common words from which a name matches a clue that no name equals.'),
  maxTriples: whole(1, 200, 30).describe('Facts in the answer prompt.'),
});

export type FiskeSettings = z.output<typeof fiskeSettings>;

export type FiskeAttempt = Attempt<WalkingParts<FiskeSettings> & { words: WordIndex }>;

export interface Exploration extends FiskeAttempt {
  clues: Clues;
  /** Question with its mentions marked, for the pre-filter. */
  ranked: QuestionTask;
  /** Follow all tails of a mapped relation, without a question for each entity. */
  wholeSets: boolean;
  /** Number of relations to walk, if given and whole sets are followed; else coverage decides. */
  hopsWanted: number | undefined;
  /** Clues that name an entity. */
  namedBy: ReadonlyMap<number, ClueSet>;
  /** Allow reaching an entity that no clue was mapped to; entities of the question only if topics return. */
  mayEnd: (entity: number) => boolean;
}

/** A last step: over `relation` from another branch, in `walks` different ways. */
type Arrival = { from: Branch; relation: number; walks: number };

/** State of an exploration: entities, paths and covered clues. */
export interface Branch {
  readonly head: number;
  readonly covered: ClueSet;
  readonly depth: number;
  /** None at a start node. */
  readonly arrivals: Arrival[];
  /** The question itself names the head: it is no answer. */
  readonly named: boolean;
}

export function startBranch(entity: number, covered: ClueSet): Branch {
  return { head: entity, covered, depth: 0, arrivals: [], named: true };
}

/** Number of paths that lead to the branch, by the last steps that `counts` lets pass. Default all. */
export function walksTo({ depth, arrivals }: Branch, counts: (arrival: Arrival) => boolean = () => true): number {
  if (depth === 0) return 1;
  return arrivals.reduce((sum, arrival) => (counts(arrival) ? sum + arrival.walks : sum), 0);
}

/** Adds new branches, merging those at one entity with the same state. */
export class BranchSet {
  readonly #branches = new Map<string, Branch>();

  /** @returns the branch where it is new */
  add(arrival: Arrival, head: number, covered: ClueSet, named: boolean): Branch | undefined {
    const key = `${head} ${covered}`;
    const known = this.#branches.get(key);
    if (known) {
      known.arrivals.push(arrival);
      return undefined;
    }
    const branch: Branch = { head, covered, depth: arrival.from.depth + 1, arrivals: [arrival], named };
    this.#branches.set(key, branch);
    return branch;
  }

  values(): Branch[] {
    return [...this.#branches.values()];
  }
}

/** True when all required clues are covered and something was found. */
export function isComplete({ covered, depth }: Branch, { required }: Clues): boolean {
  return depth > 0 && (required & ~covered) === 0;
}

/** Most covered clues first, then most ways, then the smaller entity. */
export function byCoverage(a: Branch, b: Branch): number {
  return clueCount(b.covered) - clueCount(a.covered) || walksTo(b) - walksTo(a) || a.head - b.head;
}

/** One way to the branch: at every step the first that was found, straight ways back aside. */
export function pathTo(branch: Branch): Path {
  const path: Path[number][] = [];
  let at = branch;
  let next: number | undefined;
  while (at.depth > 0) {
    const { from, relation } = at.arrivals.find((arrival) => arrival.from.head !== next) ?? at.arrivals[0]!;
    path.unshift([from.head, relation, at.head]);
    next = at.head;
    at = from;
  }
  return path;
}

/**
 * Triples of the first branch and of all that share an entity with it or with what joined it before. One branch alone merges to itself.
 * @param partial most covered clues first
 */
export function mergePartial(partial: readonly Branch[]): Path {
  const triples: Path[number][] = [];
  const entities = new Set<number>();
  let apart = partial.map(pathTo);
  for (let joined = true; joined;) {
    joined = false;
    const rest: typeof apart = [];
    for (const path of apart) {
      const touches = triples.length === 0 || path.some(([head, , tail]) => entities.has(head) || entities.has(tail));
      if (!touches) {
        rest.push(path);
        continue;
      }
      joined = true;
      triples.push(...path);
      for (const [head, , tail] of path) entities.add(head).add(tail);
    }
    apart = rest;
  }
  return triples;
}

export interface Step {
  from: Branch;
  relation: number;
  tail: number;
  /** Paths that take this step. */
  walks: number;
}

export interface AcceptedStep extends Step {
  covered: ClueSet;
  /** A clue names the tail: it is no answer. */
  named: boolean;
}

/** Relations of Freebase that name things instead of relating them. */
const namingRelation = /^~?type\.object\.name$|sameAs/;

/** Every edge that leaves a branch, save those that `backtracking` forbids. */
export function stepsOf(from: Branch, exploration: Exploration): Step[] {
  const { graph, settings } = exploration;
  const steps: Step[] = [];
  const begin = graph.offsets[from.head]!;
  const degree = graph.degree(from.head);
  for (let edge = begin; edge < begin + degree; edge++) {
    const relation = graph.relations[edge]!;
    const tail = graph.tails[edge]!;
    // Only paths that may continue to the tail count: some paths to the head may come from it.
    const walks = walksTo(from, (arrival) => {
      if (settings.backtracking === 'always' || arrival.from.head !== tail) return true;
      return settings.backtracking === 'other-facts' && graph.inverseOf[arrival.relation] !== relation;
    });
    if (walks > 0 && !namingRelation.test(graph.relationNames[relation]!)) steps.push({ from, relation, tail, walks });
  }
  exploration.graphReads += degree;
  return steps;
}

/** Steps over the relations that the pre-filter leaves of a branch. */
export async function filteredSteps(
  from: Branch,
  steps: readonly Step[],
  { parts, ranked }: Exploration,
): Promise<Step[]> {
  const walked = pathTo(from).map(([, relation]) => relation);
  const kept = new Set(await parts.prefilter.keep(ranked, walked, [...new Set(steps.map(({ relation }) => relation))]));
  return steps.filter(({ relation }) => kept.has(relation));
}

/**
 * Those of a branch's steps whose tails are named by uncovered clues. A relation covers a clue as well where its whole
 * name is that clue: parts of names prove nothing.
 */
export function namedSteps(steps: readonly Step[], { graph, clues, namedBy }: Exploration): AcceptedStep[] {
  return steps.flatMap((step) => {
    const named = (namedBy.get(step.tail) ?? 0) & ~step.from.covered;
    if (named === 0) return [];
    const relation = normalizeName(graph.relationNames[step.relation]!);
    const said = clues.texts.reduce((set, clue, i) => (normalizeName(clue) === relation ? set | (1 << i) : set), 0);
    return [{ ...step, covered: step.from.covered | named | said, named: true }];
  });
}
