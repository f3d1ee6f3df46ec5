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
import type { Graph } from '../../../src/kg/graph.js';
import { pathKey, type Path } from '../../../src/kg/graph.js';
import { BudgetSpent, type ContextBlock, type DecisionClient } from '../../../src/llm/decision.js';
import type { Agent, Answer, Cost } from '../../agent.js';
import { outPathChoices } from './out-paths.js';
import * as prompts from './prompts.js';
import { writtenPath } from './written-path.js';

/** Names of the three. */
export const arkPrompts = ['ark-standard', 'ark-normal', 'ark-opa'] as const;
/** One of `arkPrompts`. */
export type ArkPrompt = (typeof arkPrompts)[number];

/** One task's access to the model, and what it cost so far. */
export interface TaskClient {
  client: DecisionClient;
  cost(): Cost;
}

/** What the prompts need to be asked. */
export interface ArkOptions {
  graph: Graph;
  clientFor(taskId: string): TaskClient;
  /** Most lines of out-paths in a prompt. Default 40. */
  maxChoices?: number;
  /** Walks an answer may hold. */
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
      const { writeTask, writeExamples } = prompts;
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
      ...{ kind: 'choose-many', task: prompts.chooseTask, examples: prompts.chooseExamples, maxChoices: 5 },
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
        const paths = await walks(task, client).catch((error: unknown) => {
          if (error instanceof BudgetSpent) return [];
          throw error;
        });
        answers.push(asAnswer(paths.slice(0, beamWidth), cost()));
        onProgress?.(answers.length);
      }
      return answers;
    },
  };
}

function contextOf(task: WalkTask, graph: Graph, withHistory: boolean): ContextBlock[] {
  const entity: ContextBlock = { label: prompts.labels.entity, lines: [task.startName] };
  if (!withHistory) return [entity];
  const said = task.messages.slice(0, -1).map(({ sender, text }) => `${sender}: ${text}`);
  const walked = task.earlierPaths.map((path) => verbalizePath(graph, path));
  const blocks: ContextBlock[] = [
    { label: prompts.labels.history, lines: said, role: 'history' },
    { label: prompts.labels.paths, lines: walked, role: 'history' },
  ];
  return [...blocks.filter(({ lines }) => lines.length > 0), entity];
}

/** Equal shares for what was named; the ranking keeps the order. */
function asAnswer(paths: readonly Path[], cost: Cost): Answer {
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
