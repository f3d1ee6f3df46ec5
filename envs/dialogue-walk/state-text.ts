/**
 * The full text of a state. What changes least comes first: the instruction of all tasks, the conversation as it grows from turn to turn,
 * the paths before, and last the walk. So a language model that reads from left to right evaluates once what states have in common.
 * @source LLM-ARK (Huang 2024), section 3.3.1, for the fields; order and words are ours
 */
import type { Message, Sender } from '../../datasets/dialogue.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { unknownId, type Graph, type Path } from '../../src/kg/graph.js';
import type { StateTextSettings } from '../settings.js';
import type { WalkState } from './rules.js';

/** Parts that are constant during a walk. */
interface TaskTextFields {
  /** All messages so far, oldest first. */
  messages: readonly Message[];
  /** Speaker whose path is predicted. */
  sender: Sender;
  /** Paths chosen earlier in the dialogue, verbalised, oldest first. */
  earlierPaths: readonly string[];
}

interface WalkTextFields {
  startEntity: string;
  /** Steps of this walk, verbalised; empty before the first. */
  walked: string;
  currentEntity: string;
  /** The step about to be taken, from 1. */
  step: number;
  /** Edges that lead out of the current entity, verbalised. Default: none. */
  outPaths?: readonly string[];
}

/** Inputs of a state's text. */
export interface StateTextFields extends TaskTextFields, WalkTextFields {}

/** The fields of a task. */
export function taskTextFields(graph: Graph, { messages, sender, earlierPaths }: WalkTask): TaskTextFields {
  return { messages, sender, earlierPaths: earlierPaths.map((path) => verbalizePath(graph, path)) };
}

/** The fields of a state of it. @param outPaths most edges that are named, in the graph's order */
export function walkTextFields(graph: Graph, task: WalkTask, state: WalkState, outPaths: number): WalkTextFields {
  const { current, path, hop } = state;
  const first = current < 0 ? 0 : graph.offsets[current]!;
  const named = current < 0 ? 0 : Math.min(outPaths, graph.degree(current));
  return {
    startEntity: task.startName,
    walked: verbalizePath(graph, path),
    currentEntity: graph.entityNames[current] ?? task.startName,
    step: hop + 1,
    outPaths: Array.from({ length: named }, (_, i) => {
      const edge = first + i;
      return `${graph.relationNames[graph.relations[edge]!]!} -> ${graph.entityNames[graph.tails[edge]!]!}`;
    }),
  };
}

/** `Inception -[directed_by]-> Christopher Nolan`; a stay reads `-[stay]->`; empty for an empty path. */
export function verbalizePath(graph: Graph, path: Path): string {
  if (path.length === 0) return '';
  const entity = (id: number) => (id === unknownId ? '(not in the graph)' : graph.entityNames[id]!);
  const relation = (id: number) =>
    id === graph.equalRelation ? 'stay' : id === unknownId ? '(not in the graph)' : graph.relationNames[id]!;
  return entity(path[0]![0]) + path.map(([, via, tail]) => ` -[${relation(via)}]-> ${entity(tail)}`).join('');
}

/** Text around the fields, and the selection of fields. */
type StateTextOptions = Pick<StateTextSettings, 'template' | 'history' | 'earlierPaths'>;

const everything: StateTextOptions = { template: 'normal', history: true, earlierPaths: true };

const task =
  'Two people talk about things of a knowledge graph, and each thing that one of them turns to is reached by a walk.';
const instruction =
  'Choose the edge of the current entity that leads towards what the next message will speak of, or stay where it is reached.';

/** Beginning and end of a text. */
const templates: Readonly<Record<StateTextSettings['template'], readonly [string[], string[]]>> = {
  normal: [[`Task: ${task}`, `Instruction: ${instruction}`], ['Next edge:']],
  alpaca: [
    [
      'A task, an instruction and the present state. Answer with the next step.',
      '',
      '### Task:',
      task,
      '',
      '### Instruction:',
      instruction,
      '',
      '### Input:',
    ],
    ['', '### Response:'],
  ],
  none: [[], []],
};

/** The text of a state: a function of its fields alone. */
export function renderStateText(fields: StateTextFields, options: StateTextOptions = everything): string {
  return taskText(fields, options) + walkText(fields, options);
}

/** Common prefix of all states of a task, up to the end of a line. */
export function taskText({ messages, sender, earlierPaths }: TaskTextFields, options: StateTextOptions): string {
  const shown = options.history ? messages : messages.slice(-1);
  const lines = [...templates[options.template][0]];
  if (shown.length > 0) lines.push('Conversation:', ...shown.map(messageLine));
  if (options.earlierPaths && earlierPaths.length > 0) lines.push('Earlier paths:', ...earlierPaths.map(pathLine));
  lines.push(`Next speaker: ${sender}`);
  return lines.map((line) => `${line}\n`).join('');
}

const messageLine = ({ sender, text }: Message): string => `${sender}: ${text.trim()}`;
const pathLine = (path: string): string => `- ${path}`;

/** Remainder of a state's text after `taskText`. */
export function walkText(
  { startEntity, walked, currentEntity, step, outPaths = [] }: WalkTextFields,
  { template }: Pick<StateTextOptions, 'template'>,
): string {
  const lines = [`Walk: ${walked || startEntity}`, `Step ${step} at ${currentEntity}`];
  if (outPaths.length > 0) lines.push('Edges:', ...outPaths.map(pathLine));
  return [...lines, ...templates[template][1]].join('\n');
}

/** The lines of a task's text that may be left out, and the text without any of them. */
interface TaskLines {
  /** Fields that are always included: the instruction, the last message, the next speaker. */
  kept: string;
  /** One line per message before the last one, oldest first; empty if they are not included. */
  messages: string[];
  /** A line an earlier path, oldest first. */
  earlierPaths: string[];
}

/** Cuts a task's text into what is protected and what is not. */
export function taskLines(fields: TaskTextFields, options: StateTextOptions): TaskLines {
  const kept = taskText(fields, { ...options, history: false, earlierPaths: false });
  return {
    kept,
    messages: options.history ? fields.messages.slice(0, -1).map(messageLine) : [],
    earlierPaths: options.earlierPaths ? fields.earlierPaths.map(pathLine) : [],
  };
}

/**
 * The fields without their oldest messages, and then without their oldest earlier paths, until the rest fits. What is protected
 * stays, even where it alone is longer.
 * @param tokens those of `TaskLines`, line by line
 * @param budget tokens; those of a line are counted with its end, the heading of the earlier paths is not
 */
export function trimmedFields<Fields extends TaskTextFields>(
  fields: Fields,
  tokens: { kept: number; messages: readonly number[]; earlierPaths: readonly number[] },
  budget: number,
): Fields {
  const messages = [...tokens.messages];
  const earlierPaths = [...tokens.earlierPaths];
  const total = () => sum(messages) + sum(earlierPaths) + tokens.kept;
  while (messages.length > 0 && total() > budget) messages.shift();
  while (earlierPaths.length > 0 && total() > budget) earlierPaths.shift();
  return {
    ...fields,
    messages: fields.messages.slice(fields.messages.length && -1 - messages.length),
    earlierPaths: fields.earlierPaths.slice(fields.earlierPaths.length - earlierPaths.length),
  };
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
