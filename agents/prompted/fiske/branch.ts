/** Branches of an exploration. Those that stand at one entity with the same clues covered are one, with all their ways. */
import type { Path } from '../../../src/kg/graph.js';
import { clueCount, type ClueSet, type Clues } from './clues.js';

/** A last step: over `relation` from another branch, in `walks` different ways. */
export interface Arrival {
  from: Branch;
  relation: number;
  walks: number;
}

/** Where an exploration stands, by which ways, and with which clues covered. */
export interface Branch {
  readonly head: number;
  readonly covered: ClueSet;
  readonly depth: number;
  /** None at a start node. */
  readonly arrivals: Arrival[];
  /** The question itself names the head: it is no answer. */
  readonly named: boolean;
}

/** Where no branch has gone yet. */
export function startBranch(entity: number, covered: ClueSet): Branch {
  return { head: entity, covered, depth: 0, arrivals: [], named: true };
}

/** Number of paths that lead to the branch, by the last steps that `counts` lets pass. Default all. */
export function walksTo({ depth, arrivals }: Branch, counts: (arrival: Arrival) => boolean = () => true): number {
  if (depth === 0) return 1;
  return arrivals.reduce((sum, arrival) => (counts(arrival) ? sum + arrival.walks : sum), 0);
}

/** Adds what grows out of branches, merging what stands at one place in one state. */
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

/** Whether every clue is covered that must be, and something was found. */
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
