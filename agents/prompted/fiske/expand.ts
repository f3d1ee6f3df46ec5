/** One round of mapping for branches that share their calls: relations first, then the entities behind them. */
import type { Candidate } from '../../../src/llm/decision.js';
import { withinLimit } from './candidate-limit.js';
import { clueCount, type ClueSet } from './clues.js';
import type { Exploration } from './exploration.js';
import { mapToClues } from './mapping.js';
import * as prompts from './prompts.js';
import type { AcceptedStep, Step } from './steps.js';

/**
 * The steps that clues speak for: over a relation and to an entity that were mapped, or to every entity of a relation
 * that covers the last clue left.
 * @param steps all steps of all branches of the group
 * @param asked clues that the mapping is asked for
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
  const covers = new Map(relations.map((relation, i) => [relation, relationClues[i]!]));
  const mapped: AcceptedStep[] = steps
    .filter(({ relation }) => covers.get(relation) !== 0)
    .map((step) => ({ ...step, covered: step.from.covered | covers.get(step.relation)!, named: false }));

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
  const speaksFor = new Map(distinct.map((step, i) => [stepKey(step), entityClues[i]!]));
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
  return (a, b) => {
    const left = key(a);
    const right = key(b);
    return left < right ? -1 : left > right ? 1 : a.tail - b.tail;
  };
}
