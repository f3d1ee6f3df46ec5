/** `kgwalk ask` on links: (head, relation, ?) of the user's own. */
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { resolveEntity, resolveRelation } from '../../datasets/links/resolve-names.js';
import { linkWalkSettings } from '../../envs/settings.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Section } from '../../src/run/evaluation.js';
import { type EvaluationFlags, wholeNumber } from '../flags.js';
import type { Resolved, Shown, Work } from '../task.js';
import { openRanker, refuseIdle } from './agents.js';
import { linkDatasetName } from './data.js';
import { namedSteps, verbalisePath } from './words.js';

/** An answer as it is printed: what walks reached has a path, what is scored has none. */
interface Answer {
  entity: string;
  id: string;
  /** Log-probability of the best walk or of all together, as the run's settings say, or the score. */
  score: number;
  /** Whether some split holds it. */
  known: boolean;
  path?: [string, string, string][];
  /** The path in words, or the relations of the rule that found it. */
  words?: string;
}

/** Ranks entities; the first, with the walk that led there. */
export async function askLink(
  words: readonly string[],
  which: Resolved,
  flags: EvaluationFlags,
  work: Work,
): Promise<Shown> {
  const [head, relation] = headAndRelation(words);
  const top = wholeNumber(flags.top ?? '10', '--top', 1);
  refuseIdle([which], flags);
  const runs = which.trained ? [which.trained.run] : [];
  const dataset = await loadLinkDataset(linkDatasetName(flags.dataset, runs));
  const question = { head: resolveEntity(dataset, head), relation: resolveRelation(dataset, relation) };
  const { horizon } = linkWalkSettings.parse(runs.at(-1)?.config.linkWalk ?? {});
  const opened = await openRanker(which, dataset, horizon, { flags, runs, work });
  const { graph, labels } = dataset;
  let answers: Answer[] = [];
  try {
    await opened.ranker.rank([question], (_, { scores: all, reached, chainTo }) => {
      const known = dataset.known.tailsOf(question.head, question.relation);
      const scores = all.at(opened.pooling === 'sum' ? -1 : 0)!;
      const places = reached && placesOf(reached.entities);
      // What no rule leads to has a score all the same: the lowest.
      const found = bestOf(scores).filter((entity) => !chainTo || chainTo(entity));
      answers = Array.from(found.subarray(0, top), (entity): Answer => {
        const path = places && reached.path(places.get(entity)!);
        const chain = chainTo?.(entity);
        return {
          entity: labels[entity]!,
          id: graph.entityName(entity)!,
          score: scores[entity]!,
          known: known.includes(entity),
          ...(path && {
            path: namedSteps(dataset, question.head, path),
            words: verbalisePath(graph, labels, question.head, path),
          }),
          ...(chain && { words: chain.map((step) => graph.relationNames[step]!).join(' → ') }),
        };
      });
    });
  } finally {
    await opened.close?.();
  }
  const asked = { head: labels[question.head]!, relation: graph.relationNames[question.relation]! };
  const unseen = graph.degree(question.head) === 0;
  const section: Section = {
    title: `(${asked.head}, ${asked.relation}, ?)`,
    ...(unseen && { lines: [`train has no edge of ${asked.head}: no walk leaves it.`] }),
    rows: answers.map(({ entity, score, known, path, words: way }, i) => ({
      rank: i + 1,
      answer: entity,
      ...(path ? { probability: Math.exp(score).toPrecision(3) } : { score: score.toFixed(3) }),
      known: known ? 'yes' : '',
      ...(way !== undefined && { [path ? 'path' : 'rule']: way }),
    })),
  };
  return { json: { ...asked, answers }, sections: [section] };
}

const placesOf = (entities: Int32Array) => new Map(Array.from(entities, (entity, i) => [entity, i] as const));

/** Entities with a score, best first, ties by id. */
function bestOf(scores: Float64Array): Int32Array {
  return Int32Array.from(scores.keys())
    .filter((entity) => scores[entity] !== -Infinity)
    .sort((a, b) => scores[b]! - scores[a]! || a - b);
}

/** Head and relation of a command line. @throws WorkbenchError `usage` for fewer or more words */
function headAndRelation(words: readonly string[]): readonly [string, string] {
  if (words.length === 2) return [words[0]!, words[1]!];
  throw new WorkbenchError('usage', `expected a head and a relation on links, got ${words.length} words`, {
    hint: 'kgwalk ask RUN HEAD RELATION, or kgwalk ask --agent NAME HEAD RELATION; ~RELATION asks for heads',
  });
}
