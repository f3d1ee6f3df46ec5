/**
 * The full text of a state. What changes least comes first: the instruction of all tasks, the conversation as it grows from
 * turn to turn, the paths before, and last the walk. So a language model that reads from left to right evaluates once what
 * states have in common.
 * @source LLM-ARK (Huang 2024), section 3.3.1, for the fields; order and words are ours
 */
import type { StateTextFields, TaskTextFields, WalkTextFields } from './fields.js';
import type { StateTextSettings } from './settings.js';

/** What stands around the fields, and which of them are told. */
export type StateTextOptions = Pick<StateTextSettings, 'template' | 'history' | 'earlierPaths'>;

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

/** What all states of a task begin with, up to a line's end. */
export function taskText({ messages, sender, earlierPaths }: TaskTextFields, options: StateTextOptions): string {
  const told = options.history ? messages : messages.slice(-1);
  const lines = [...templates[options.template][0]];
  if (told.length > 0) lines.push('Conversation:', ...told.map(messageLine));
  if (options.earlierPaths && earlierPaths.length > 0) lines.push('Earlier paths:', ...earlierPaths.map(pathLine));
  lines.push(`Next speaker: ${sender}`);
  return lines.map((line) => `${line}\n`).join('');
}

/** How a message is told. */
export function messageLine({ sender, text }: TaskTextFields['messages'][number]): string {
  return `${sender}: ${text.trim()}`;
}

/** How an earlier path is told. */
export function pathLine(path: string): string {
  return `- ${path}`;
}

/** How the text of a state goes on after `taskText`. */
export function walkText(
  { startEntity, walked, currentEntity, step, outPaths = [] }: WalkTextFields,
  { template }: Pick<StateTextOptions, 'template'>,
): string {
  const lines = [`Walk: ${walked || startEntity}`, `Step ${step} at ${currentEntity}`];
  if (outPaths.length > 0) lines.push('Edges:', ...outPaths.map(pathLine));
  return [...lines, ...templates[template][1]].join('\n');
}
