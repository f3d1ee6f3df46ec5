/** Exploration from start nodes until a branch covers every clue, reaches the given number of hops, or none can continue. */
import { BudgetSpent } from '../../../src/llm/decision.js';
import {
  type AcceptedStep,
  type Branch,
  BranchSet,
  byCoverage,
  type Exploration,
  filteredSteps,
  isComplete,
  namedSteps,
  startBranch,
  type Step,
  stepsOf,
} from './branch.js';
import { clueCount, type ClueSet, type StartNode } from './clues.js';
import { mappedSteps } from './expand.js';

export interface Explored {
  /** Branches that cover every clue; with a given number of hops, those of that length. */
  complete: Branch[];
  /** Branches that ended before. */
  partial: Branch[];
  /** `hops`: the given length was reached with clues left open. */
  stop: 'covered' | 'hops' | 'dead-end' | 'no-start' | 'budget';
}

/** Runs all starts as one frontier, or one after the other until one is covered. Never throws `BudgetSpent`. */
export async function explore(starts: readonly StartNode[], exploration: Exploration): Promise<Explored> {
  const { settings, clues } = exploration;
  const seen: Branch[] = [];
  const extended = new Set<Branch>();
  let spent = false;
  // With a given number of hops, coverage does not end the exploration early.
  const arrived = (branch: Branch) =>
    exploration.hopsWanted === undefined ? isComplete(branch, clues) : branch.depth === exploration.hopsWanted;
  const complete = () => seen.filter(arrived).sort(byCoverage);
  const done = () => settings.earlyStop && seen.some(arrived);

  /** Takes the branches one step further; where one has covered everything, only heads in the same state follow. */
  async function grow(branches: readonly Branch[]): Promise<Branch[]> {
    const grown = new BranchSet();
    const accept = (steps: readonly AcceptedStep[]) => {
      for (const { from, relation, walks, tail, covered, named } of steps) {
        const born = grown.add({ from, relation, walks }, tail, covered, named);
        if (born) seen.push(born);
        extended.add(from);
      }
    };
    const heads = branches.map(({ head }) => head);
    await exploration.graph.ensure(heads, exploration.session.signal);
    const groups = new Map<string, { steps: Step[]; asked: ClueSet }>();
    for (const branch of branches) {
      const all = stepsOf(branch, exploration);
      const named = settings.zeroCallShortcut ? namedSteps(all, exploration) : [];
      const steps = named.length > 0 ? all : await filteredSteps(branch, all, exploration);
      accept(named);
      const open = clues.all & ~(settings.stateful ? branch.covered : 0);
      // When covered early, any clue may support the remaining steps.
      const asked = open === 0 && exploration.hopsWanted !== undefined ? clues.all : open;
      if (named.length > 0 || steps.length === 0 || asked === 0) continue;
      const key = groupKey(branch, steps, asked, exploration);
      const group = groups.get(key);
      if (!group) groups.set(key, { steps, asked });
      else for (const step of steps) group.steps.push(step);
    }
    // Heads in the state of the one that made it are finished: what they lead to are answers just as well.
    let finished: ClueSet | undefined;
    for (const { steps, asked } of groups.values()) {
      if (done() && asked !== finished) continue;
      accept(await mappedSteps(steps, asked, exploration));
      if (done()) finished ??= asked;
    }
    return grown.values();
  }

  async function exploreFrom(nodes: readonly StartNode[]): Promise<void> {
    const limit = exploration.hopsWanted ?? Math.min(settings.maxHops, clues.texts.length);
    let waiting = nodes.map(({ entity, covered }) => startBranch(entity, covered));
    while (waiting.length > 0 && !done()) {
      // What a budget in the reference's mode goes by: it is looked at here and nowhere else.
      spent ||= exploration.client.remaining < 1;
      if (spent) return;
      const ready = waiting.sort(byCoverage).filter(({ depth }) => depth < limit);
      const batch = nextBatch(ready, exploration);
      const grown = await grow(batch);
      traceGrown(grown, exploration);
      waiting = [...ready.slice(batch.length), ...grown];
    }
  }

  try {
    for (const nodes of settings.startPolicy === 'joint' ? [starts] : starts.map((start) => [start])) {
      if (!done()) await exploreFrom(nodes);
    }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    spent = true;
  }
  const ends = complete();
  const partial = seen.filter((branch) => !extended.has(branch) && !arrived(branch)).sort(byCoverage);
  const stop = ends.some((branch) => isComplete(branch, clues)) ? 'covered' : ends.length > 0 ? 'hops' : undefined;
  return { complete: ends, partial, stop: stop ?? (spent ? 'budget' : 'dead-end') };
}

/** @param ready most covered clues first */
function nextBatch(ready: readonly Branch[], { settings }: Exploration): readonly Branch[] {
  if (settings.order === 'whole-frontier' || ready.length === 0) return ready;
  const most = clueCount(ready[0]!.covered);
  return ready.filter(({ covered }) => clueCount(covered) === most);
}

/** Key of branches that share their calls. */
function groupKey(branch: Branch, steps: readonly Step[], asked: ClueSet, { settings }: Exploration): string {
  if (settings.share === 'none') return `${asked} head ${branch.head} ${branch.covered}`;
  if (settings.share === 'clues') return String(asked);
  const relations = [...new Set(steps.map(({ relation }) => relation))].sort((a, b) => a - b);
  return `${asked} relations ${relations.join(' ')}`;
}

/** Branches of one round that the trace names. */
const traced = 20;

function traceGrown(grown: readonly Branch[], { graph, clues, session }: Exploration): void {
  for (const { head, covered, depth } of grown.slice(0, traced)) {
    const detail = `${graph.entityNames[head]!}: ${clueCount(covered)} of ${clues.texts.length} clues after ${depth} steps`;
    session.trace({ event: 'branch-open', branch: head, detail });
  }
  if (grown.length > traced) session.trace({ event: 'note', text: `${grown.length - traced} further branches opened` });
}
