/**
 * LLM-ARK's prompting baselines on dialogues: the language model itself names the walk, in one call.
 *
 * `ark-standard` sees the utterance and the entity; `ark-normal` also what was said and walked before; `ark-opa` also the
 * out-paths of the entity, and chooses among them by number, so that it cannot name an edge that is not there. Inputs: a
 * dialogue task. Calls: 1. Output: the walks it wrote or chose, best first, of equal probability.
 *
 * Where the paper differs: it asks for triples in all three; out-paths beyond `maxChoices` are grouped by their relations here,
 * where the paper lists them all.
 * @source Huang 2024, "LLM-ARK", section 4.2, GPT-4 with prompts Standard, Normal and OPA
 */
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { verbalizePath } from '../../../envs/dialogue-walk/state-text.js';
import { type Graph, type Path, pathKey } from '../../../src/kg/graph.js';
import {
  type AnswerReply,
  type ChooseManyReply,
  type ContextBlock,
  type DecisionClient,
  type Example,
} from '../../../src/llm/decision.js';
import type { Agent, Answer, Cost } from '../../agent.js';
import { unlessSpent } from '../facts.js';
import { outPathChoices, writtenPath } from './paths.js';

const steps = 'one or two steps';

const writeTask = `A speaker moves from an entity to what will be talked about next, in ${steps} through a knowledge graph. Write the steps as triples "head | relation | tail", the first from the entity, the second from the tail of the first.`;

const chooseTask = `A speaker moves from an entity to what will be talked about next, in ${steps} through a knowledge graph. Choose the paths that fit what was said, the most fitting first.`;

/** Labels of the context, the same in examples and questions. */
const labels = { entity: 'Entity', history: 'Said before', paths: 'Walked before' } as const;

const writeExamples: readonly Example<AnswerReply>[] = [
  {
    question: 'I loved Moonlit Harbour. Who else wrote something like it?',
    context: [{ label: labels.entity, lines: ['Moonlit Harbour'] }],
    reply: { answers: ['Moonlit Harbour | written_by | Oda Venn', 'Oda Venn | ~written_by | The Long Pier'] },
  },
  {
    question: 'What kind of book is The Long Pier?',
    context: [{ label: labels.entity, lines: ['The Long Pier'] }],
    reply: { answers: ['The Long Pier | has_genre | Mystery'] },
  },
];

const chooseExamples: readonly Example<ChooseManyReply>[] = [
  {
    question: 'What kind of book is The Long Pier?',
    context: [{ label: labels.entity, lines: ['The Long Pier'] }],
    candidates: ['written_by → Oda Venn', 'has_genre → Mystery', 'has_genre → Mystery, ~has_genre → Moonlit Harbour'],
    reply: { choices: [1] },
  },
];

/** Names of the three. */
export const arkPrompts = ['ark-standard', 'ark-normal', 'ark-opa'] as const;
/** One of `arkPrompts`. */
export type ArkPrompt = (typeof arkPrompts)[number];

/** One task's access to the model, and what it cost so far. */
export interface TaskClient {
  client: DecisionClient;
  cost(): Cost;
}

interface ArkOptions {
  graph: Graph;
  clientFor(taskId: string): TaskClient;
  /** Most lines of out-paths in a prompt. Default 40. */
  maxChoices?: number;
  beamWidth: number;
}

/** @param prompt which of the three */
export function arkAgent(prompt: ArkPrompt, { graph, clientFor, maxChoices = 40, beamWidth }: ArkOptions): Agent {
  async function walks(task: WalkTask, client: DecisionClient): Promise<Path[]> {
    const common = {
      phase: prompt,
      questionId: task.id,
      question: task.messages.at(-1)?.text ?? '',
      evidence: [],
      context: contextOf(task, graph, prompt !== 'ark-standard'),
      subjects: [task.start],
      final: true,
    };
    if (prompt !== 'ark-opa') {
      const { reply } = await client.decide({
        ...common,
        ...{ kind: 'answer', task: writeTask, examples: writeExamples, form: 'entities', withReasoning: false },
      });
      const path = reply && writtenPath(graph, task.start, reply.answers);
      return path ? [path] : [];
    }
    const choices = outPathChoices(graph, task.start, maxChoices);
    const { reply } = await client.decide({
      ...common,
      ...{ kind: 'choose-many', task: chooseTask, examples: chooseExamples, maxChoices: 5 },
      candidates: choices.map(({ text, paths }) => ({ kind: 'path', triples: paths[0]!, text })),
    });
    return reply?.choices.flatMap((choice) => choices[choice]!.paths) ?? [];
  }

  return {
    name: prompt,
    note: 'one call of a language model',
    async answer(tasks, onProgress) {
      const answers: Answer[] = [];
      for (const task of tasks) {
        const { client, cost } = clientFor(task.id);
        const paths = (await unlessSpent(walks(task, client))) ?? [];
        answers.push(asAnswer(paths.slice(0, beamWidth), cost()));
        onProgress?.(answers.length);
      }
      return answers;
    },
  };
}

function contextOf(task: WalkTask, graph: Graph, withHistory: boolean): ContextBlock[] {
  const entity: ContextBlock = { label: labels.entity, lines: [task.startName] };
  if (!withHistory) return [entity];
  const said = task.messages.slice(0, -1).map(({ sender, text }) => `${sender}: ${text}`);
  const walked = task.earlierPaths.map((path) => verbalizePath(graph, path));
  const blocks: ContextBlock[] = [
    { label: labels.history, lines: said, role: 'history' },
    { label: labels.paths, lines: walked, role: 'history' },
  ];
  return [...blocks.filter(({ lines }) => lines.length > 0), entity];
}

/** Equal shares for what was named; the ranking keeps the order. */
export function asAnswer(paths: readonly Path[], cost: Cost): Answer {
  const distinct = [...new Map(paths.map((path) => [pathKey(path), path])).values()];
  const logProb = Math.log(1 / Math.max(1, distinct.length));
  const ends = new Map<number, number>();
  for (const path of distinct) ends.set(path.at(-1)![2], (ends.get(path.at(-1)![2]) ?? 0) + 1);
  return {
    paths: distinct.map((path) => ({ path, logProb })),
    answers: [...ends].map(([entity, count]) => ({ entity, logProb, summedLogProb: logProb + Math.log(count) })),
    cost,
  };
}
