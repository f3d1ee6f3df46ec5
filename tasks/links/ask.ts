/** `kgwalk ask` on links: (head, relation, ?) of the user's own. */
import { linkAgents } from '../../agents/link-agents.js';
import type { RankedQuestion } from '../../agents/link-ranker.js';
import { type LinkDataset, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { resolveEntity, resolveRelation } from '../../datasets/links/resolve-names.js';
import { linkWalkSettings } from '../../envs/settings.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { type AnswerFrame, answerSections } from '../answer-frame.js';
import { type EvaluationFlags, wholeNumber } from '../flags.js';
import {
  type AskedFields,
  type AskedNames,
  lazy,
  membersOf,
  type OpenedAsk,
  type Resolved,
  type ShownAnswer,
  type Work,
} from '../task.js';
import { type OpenedRanker, openRanker, refuseIdle } from './agents.js';
import { linkDatasetName, type LinkData } from './data.js';
import { namedSteps, ruleWords, verbalisePath } from './row.js';
import type { LinkSample } from './score.js';

/** An answer as it is printed: what walks reached has a path, what is scored has none. */
export interface Answer {
  entity: string;
  id: string;
  /** Log-probability of the best walk or of all together, as the run's settings say, or the score. */
  score: number;
  /** Known from some split. */
  known: boolean;
  path?: [string, string, string][];
  /** The path in words. */
  words?: string;
  /** Supporting chains with their share of the score, largest first; without a chain it answers the relation elsewhere. */
  reasons?: { chain?: string[]; share: number }[];
  /** Rules that found it, the most precise first. */
  rules?: { words: string; right: number; of: number; precision: number }[];
}

/** Reasons that are shown of an answer; JSON has so many, too. */
const mostReasons = 3;

/** Ranks entities; the first, with the walk that led there. */
export function openAskLink(which: Resolved, flags: EvaluationFlags, work: Work): OpenedAsk {
  const runs = which.trained ? membersOf(which.trained).map(({ run }) => run) : [];
  const data = lazy(async () => loadLinkDataset(linkDatasetName(flags.dataset, runs)));
  const openIt = async () => {
    const { horizon } = linkWalkSettings.parse(runs.at(-1)?.config.linkWalk ?? {});
    return openRanker(which, await data.get(), horizon, { flags, runs, work });
  };
  const ranker = lazy(openIt, (one) => one.close?.());
  return {
    async ask(words, of = {}) {
      const [head, relation] = headAndRelation(words);
      const top = wholeNumber(of.top ?? flags.top ?? '10', '--top', 1);
      refuseUnranked(which, flags);
      const dataset = await data.get();
      const question = { head: resolveEntity(dataset, head), relation: resolveRelation(dataset, relation) };
      const opened = await ranker.get();
      const isProbability = opened.ranker.scale === 'log-probability';
      return shown(question, await answersOf(question, dataset, opened, top), isProbability, dataset, which);
    },
    close: ranker.close,
  };
}

/** @throws WorkbenchError `usage` for options that are not read, and for agents that ask a model */
export function refuseUnranked(which: Resolved, flags: EvaluationFlags): void {
  refuseIdle([which], flags);
  if (which.agent === undefined || !linkAgents.asksModel(which.agent)) return;
  throw new WorkbenchError('usage', `expected a run or an agent without a model, got ${which.agent}`);
}

/** Head and relation of a query that walks can answer. */
export function askedQuery({ task, distance }: LinkSample, { dataset, horizon }: LinkData): AskedFields | undefined {
  if (distance > horizon) return undefined;
  return { head: nameOf(dataset, task.head), relation: dataset.graph.relationNames[task.relation]! };
}

/** Names by which entities and relations are asked. */
export function queryNames({ dataset }: LinkData): AskedNames {
  const { labels, graph } = dataset;
  return { entities: labels, nameOf: (entity) => nameOf(dataset, entity), relations: graph.relationNames };
}

/** The display name of an entity if no other has it, else its id. */
function nameOf({ labels, graph }: LinkDataset, entity: number): string {
  const label = labels[entity]!;
  const isShared = labels !== graph.entityNames && labels.indexOf(label) !== labels.lastIndexOf(label);
  return isShared ? graph.entityName(entity)! : label;
}

export type Query = { head: number; relation: number };

/** The best answers of a ranker. */
export async function answersOf(
  question: Query,
  dataset: AskedWorld,
  { ranker, pooling }: Pick<OpenedRanker, 'ranker' | 'pooling'>,
  top: number,
): Promise<Answer[]> {
  let answers: Answer[] = [];
  await ranker.rank([question], (_, ranked) => {
    const { scores, answerOf } = answersIn(ranked, question, dataset, pooling);
    answers = Array.from(bestOf(scores).subarray(0, top), answerOf);
  });
  return answers;
}

type AskedWorld = Pick<LinkDataset, 'graph' | 'labels'> & { known: Pick<LinkDataset['known'], 'tailsOf'> };

/** The scores of a question, and any entity as its answer; valid during the call of the ranker. */
export function answersIn(
  { scores: all, reached, reasons, rulesTo }: RankedQuestion,
  question: Query,
  dataset: AskedWorld,
  pooling: OpenedRanker['pooling'],
) {
  const { graph, labels } = dataset;
  const known = dataset.known.tailsOf(question.head, question.relation);
  const scores = all.at(pooling === 'sum' ? -1 : 0)!;
  const places = reached && placesOf(reached.entities);
  return {
    scores,
    answerOf(entity: number): Answer {
      const path = places && reached.path(places.get(entity)!);
      const own = reasons?.(entity).slice(0, mostReasons);
      const named = (steps: readonly number[]) => steps.map((step) => graph.relationNames[step]!);
      return {
        entity: labels[entity]!,
        id: graph.entityName(entity)!,
        score: scores[entity]!,
        known: known.includes(entity),
        path: path && namedSteps(dataset, question.head, path),
        words: path && verbalisePath(graph, labels, question.head, path),
        reasons: own?.map((one) => ({ chain: one.chain && named(one.chain), share: one.share })),
        rules: rulesTo?.(entity)
          .slice(0, mostReasons)
          .map(({ right, of, precision, ...rule }) => {
            return {
              words: ruleWords({ right, of, ...rule }, question.relation, entity, dataset),
              right,
              of,
              precision,
            };
          }),
      };
    },
  };
}

function shown(
  question: Query,
  answers: readonly Answer[],
  isProbability: boolean,
  { graph, labels, manifest }: LinkDataset,
  which: Resolved,
): ShownAnswer {
  const asked = { head: labels[question.head]!, relation: graph.relationNames[question.relation]! };
  const unseen = graph.degree(question.head) === 0;
  const scoreText = ({ score }: Answer) => (isProbability ? Math.exp(score).toPrecision(3) : score.toFixed(3));
  const frame: AnswerFrame = {
    ...{ question: `(${asked.head}, ${asked.relation}, ?)`, topics: [asked.head] },
    answers: answers.map((answer) => ({
      cells: {
        answer: answer.entity,
        [isProbability ? 'probability' : 'score']: scoreText(answer),
        known: answer.known ? 'yes' : '',
      },
      from: reasonsText(answer),
    })),
    none: 'no answer',
    ...(unseen && { notes: [`train has no edge of ${asked.head}: no walk leaves it.`] }),
    over: `triples of train of ${manifest.name}`,
  };
  return {
    json: { ...asked, answers },
    sections: answerSections(frame, which),
    answers: answers.map((answer) => ({
      text: answer.entity,
      score: `${scoreText(answer)}${answer.known ? ', known' : ''}`,
    })),
    walks: answers.map(({ path = [] }) => path),
  };
}

/** Reasons of an answer in words; undefined where the agent has none. */
export function reasonsText({ reasons = [], rules = [], words }: Pick<Answer, 'reasons' | 'rules' | 'words'>) {
  const all = [...reasons.map(reasonText), ...rules.map((rule) => `${rule.precision.toFixed(2)} ${rule.words}`)];
  return all.length > 0 ? all.join('; ') : words;
}

/** `0.62 born_in → lies_in` */
export const reasonText = ({ chain, share }: NonNullable<Answer['reasons']>[number]) =>
  `${share.toFixed(2)} ${chain?.join(' → ') ?? '(answers it elsewhere)'}`;

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
