/** Options that `evaluate` and `compare` share, and which kinds of data have them. */
import { type Command, Option } from 'commander';
import type { DatasetKind } from '../datasets/imported-dataset.js';
import { WorkbenchError } from '../src/run/errors.js';
import { repeatable } from './repeatable.js';

/** Options as commander names them, with the kinds of data that have them; those that all have are not here. */
const kindsOf: Readonly<Record<string, readonly DatasetKind[]>> = {
  ...shared(['dialogues'], ['graph', 'turns', 'data', 'twoHopBonus', 'predictions', 'count', 'start', 'dialogue']),
  ...shared(['questions'], ['budget', 'budgetMode', 'choices', 'holdOut', 'set', 'seed', 'withholdHops', 'mixed']),
  ...shared(['questions'], ['report', 'trace']),
  ...shared(['links'], ['direction', 'config']),
  ...shared(['dialogues', 'links'], ['backend', 'threads', 'beamWidth']),
  ...shared(['dialogues', 'questions'], ['encoder', 'model', 'modelSet']),
  ...shared(['questions', 'links'], ['evaluations']),
};

function shared(kinds: readonly DatasetKind[], options: readonly string[]) {
  return Object.fromEntries(options.map((option) => [option, kinds]));
}

/** Adds the shared options. */
export function addInputOptions(command: Command): Command {
  return addQuestionOptions(
    command
      .option('--dataset <name>', 'imported data set, such as opendialkg, metaqa/2-hop or umls (a run keeps its own)')
      .option('--split <split>', 'train, valid or test; of questions also names such as dev-valid', 'valid')
      .option('--limit <n>', 'only n samples, drawn by a fixed seed: the same for every agent')
      .option('--checkpoint <which>', 'of a run: best, last, clone or a step', 'best')
      .option(
        '--encoder <file>',
        'of agents that need text vectors: FILE.gguf, a name of `models list`, or hashed:DIM (default the embedded one, demo)',
      )
      .option('--backend <name>', 'dialogues, links: tensorflow, wasm or cpu instead of the run’s own')
      .option('--graph <name>', 'dialogues: graph of the data set (a run keeps its own; default dialogue)')
      .option('--turns <who>', 'dialogues: all or assistant (a run keeps its own; default all)')
      .option('--data <file>', 'dialogues: a file in the release’s format (.csv, .json, .jsonl) instead of a split')
      .option(
        '--beam-width <n>',
        'dialogues: walks to rank, at least the largest k; links: walks that go on after a step',
      )
      .option('--two-hop-bonus <nats>', 'dialogues: added to the score of two-hop walks when ranking'),
  )
    .addOption(
      new Option(
        '--direction <which>',
        'links: ask for tails, heads or both (default both, of a run trained on tails alone tail)',
      ).choices(['tail', 'head', 'both']),
    )
    .option('--config <preset>', 'links: settings that agents transe and bilinear are trained by (default the run’s)')
    .option('--evaluations <dir>', 'questions, links: where evaluations are kept (default runs/evaluations)')
    .option('--json', 'print JSON');
}

/** Adds what `evaluate`, `compare` and `ask` share on questions. */
export function addQuestionOptions(command: Command): Command {
  return command
    .option(
      '--model <model>',
      'of prompted agents: FILE.gguf, a name of `models list`, http://HOST:PORT/v1#NAME, or on questions oracle:E (simulated, error rate E); default the embedded one, demo',
    )
    .option(
      '--model-set <key=value>',
      'threads, gpu, gpuLayers, contextLength, heads, sequences of a file; contextLength, concurrency, retries, timeoutMs of a server; repeatable',
      repeatable,
      [],
    )
    .option('--budget <n>', 'questions: calls a question may cost, or none (default 30)')
    .addOption(
      new Option(
        '--budget-mode <mode>',
        'questions: strict checks before every call, reference at the loop heads',
      ).choices(['strict', 'reference']),
    )
    .addOption(
      new Option(
        '--choices <how>',
        'questions: whether the model writes single choices and verdicts, or they go by the probability of each',
      ).choices(['written', 'logprob']),
    )
    .addOption(
      new Option('--hold-out <what>', 'questions: what test shares with no train question').choices([
        'question',
        'template',
        'type',
      ]),
    )
    .option(
      '--set <switch=value>',
      'questions: a switch of the agent, such as stateful=false; repeatable',
      repeatable,
      [],
    )
    .option('--seed <n>', 'questions: seed of agents and simulated models; the sample of --limit never changes')
    .option('--withhold-hops', 'questions: do not tell agents how many relations the data set’s split says');
}

/** @throws WorkbenchError `usage` for an option that this kind of data does not have */
export function refuseOtherKind(flags: object, kind: DatasetKind): void {
  for (const [name, kinds] of Object.entries(kindsOf)) {
    const value = (flags as Record<string, unknown>)[name];
    if (kinds.includes(kind) || value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new WorkbenchError('usage', `expected options of ${kind}, got ${flag}, which is for ${kinds.join(' and ')}`, {
      hint: `The data set holds ${kind}; leave ${flag} out.`,
    });
  }
}
