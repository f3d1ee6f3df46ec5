/** `kgwalk ask` on links: (head, relation, ?) of the user's own. */
import { WorkbenchError } from '../../src/run/errors.js';
import type { LinkAnswer } from '../../src/run/link-records.js';
import type { RunInfo } from '../../src/run/records.js';
import type { Named } from '../kind-of-work.js';
import { printJson, printLine, printTable } from '../output.js';
import { terminalWatch } from '../watch.js';
import { openLinkAgent, refuseIdleFlags, resolveLinkAgent } from './link-agents.js';
import { linkDatasetName, wholeNumber, type LinkFlags } from './link-inputs.js';

/** The options of `kgwalk ask` on links. */
export interface AskLinkFlags extends LinkFlags {
  top: string;
}

/** An answer as it is printed: what walks reached has a path, what is scored has none. */
interface Answer {
  entity: string;
  id: string;
  /** Log-probability of the best walk or of all together, as the run's settings say, or the score. */
  score: number;
  /** Whether some split holds it. */
  known: boolean;
  path?: LinkAnswer['path'];
  /** The path in words, or the relations of the rule that found it. */
  words?: string;
}

/** Ranks entities, and prints the first with the walk that led there. */
export async function askLink(
  named: Named,
  [head, relation]: readonly [string, string],
  flags: AskLinkFlags,
): Promise<void> {
  const top = wholeNumber(flags.top, '--top');
  const which = resolveLinkAgent(named, flags);
  refuseIdleFlags([which], flags);
  const runs: RunInfo[] = which.trained ? [which.trained.run] : [];
  const { loadLinkDataset } = await import('../../datasets/links/link-dataset.js');
  const { resolveEntity, resolveRelation } = await import('../../datasets/links/resolve-names.js');
  const dataset = await loadLinkDataset(linkDatasetName(flags.dataset, runs));
  const question = { head: resolveEntity(dataset, head), relation: resolveRelation(dataset, relation) };
  const opened = await openLinkAgent(which, { dataset, flags, runs, watch: terminalWatch() });
  const { namedSteps } = await import('../../evaluation/links/link-examples.js');
  const { verbalisePath } = await import('../../evaluation/links/verbalise-path.js');
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
    opened.close();
  }
  const asked = { head: labels[question.head]!, relation: graph.relationNames[question.relation]! };
  if (flags.json) return printJson({ ...asked, answers });
  print(asked, answers, graph.degree(question.head) === 0);
}

function print(asked: { head: string; relation: string }, answers: readonly Answer[], unseen: boolean): void {
  printLine(`(${asked.head}, ${asked.relation}, ?)`);
  if (unseen) printLine(`train has no edge of ${asked.head}: no walk leaves it.`);
  printTable(
    answers.map(({ entity, score, known, path, words }, i) => ({
      rank: i + 1,
      answer: entity,
      ...(path ? { probability: Math.exp(score).toPrecision(3) } : { score: score.toFixed(3) }),
      known: known ? 'yes' : '',
      ...(words !== undefined && { [path ? 'path' : 'rule']: words }),
    })),
  );
}

const placesOf = (entities: Int32Array) => new Map(Array.from(entities, (entity, i) => [entity, i] as const));

/** Entities with a score, best first, ties by id. */
function bestOf(scores: Float64Array): Int32Array {
  return Int32Array.from(scores.keys())
    .filter((entity) => scores[entity] !== -Infinity)
    .sort((a, b) => scores[b]! - scores[a]! || a - b);
}

/** Head and relation of a command line. @throws WorkbenchError `usage` for fewer or more words */
export function headAndRelation(words: readonly (string | undefined)[]): readonly [string, string] {
  const given = words.filter((word) => word !== undefined);
  if (given.length === 2) return [given[0]!, given[1]!];
  throw new WorkbenchError('usage', `expected a head and a relation on links, got ${given.length} words`, {
    hint: 'kgwalk ask --agent RUN HEAD RELATION; ~RELATION asks for heads',
  });
}
