/** Options shared by several commands; each task declares which of those of `evaluate`, `compare` and `ask` it reads. */
import { type Command, Option } from 'commander';
import type { HoldOut } from '../datasets/questions/question-manifest.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';
import { type Choices, choiceModes } from '../tasks/flags.js';

/** Adds the options shared by `evaluate` and `compare`. @param several true if agents may choose in several ways */
export function addInputOptions(command: Command, several = false): Command {
  return addQuestionOptions(
    command
      .option(
        '--dataset <name>',
        'imported data set, such as opendialkg, metaqa/2-hop or umls (default: the run’s own)',
      )
      .option('--split <split>', 'train, valid or test; for questions also names such as dev-valid', 'valid')
      .option(
        '--limit <n>',
        'evaluate only n samples, drawn with a fixed seed and thus the same for every agent; on links n triples, asked for head and tail',
      )
      .option('--checkpoint <which>', 'for a run: best, last, clone or a step', 'best')
      .option(
        '--encoder <file>',
        'for agents that need text vectors: FILE.gguf, a name from `models list`, http(s)://HOST/v1#MODEL, or hashed:DIM (default: the embedded model, demo)',
      )
      .option(
        '--backend <name>',
        'for a run: simd, webgpu, tensorflow, tensorflow-gpu or wasm instead of the backend it was trained on',
      )
      .option(
        '--graph <name>',
        'dialogues: graph of the data set (default: the run’s own, else dialogue); questions: sparql:URL of an endpoint whose graph the agents walk (docs/how-to/sparql.md)',
      )
      .option('--turns <who>', 'dialogues: all or assistant (default: the run’s own, else all)')
      .option(
        '--data <file>',
        'dialogues: a file in the format of the release (.csv, .json, .jsonl) instead of a split',
      )
      .option(
        '--beam-width <n>',
        'dialogues, questions: number of walks to rank (on dialogues at least the largest k); links: number of walks kept after each step',
      )
      .option('--two-hop-bonus <nats>', 'dialogues: added to the score of two-hop walks when ranking'),
    several,
  )
    .option(
      '--questions <file>',
      'questions: custom questions (.jsonl, as `datasets import custom` reads them) instead of a split',
    )
    .addOption(
      new Option(
        '--direction <which>',
        'links: ask for tails, heads or both (default: both; tail for a run trained on tails only)',
      ).choices(['tail', 'head', 'both']),
    )
    .option(
      '--config <preset>',
      'links: preset by which the agents transe and bilinear are trained (default: the run’s settings)',
    )
    .option(
      '--evaluations <dir>',
      'where to keep evaluations (default: those of a run in its folder, others in runs/evaluations)',
    )
    .option('--max-minutes <n>', 'stop after this many minutes; what prompted agents have answered is kept', minutesOf)
    .option('--json', 'print JSON');
}

/** Parses `written,likelihood` or repeated options. @throws WorkbenchError `usage` for an unknown or repeated way */
function choicesOf(text: string, earlier: Choices[] = []): Choices[] {
  const words = text.split(',').map((word) => word.trim());
  const known = (word: string): word is Choices => (choiceModes as readonly string[]).includes(word);
  const all = [...earlier, ...words];
  if (words.every(known) && new Set(all).size === all.length) return [...earlier, ...words];
  throw new WorkbenchError(
    'usage',
    `expected ${choiceModes.join(', ')} or several of them, each once, got ${all.join(',')}, at --choices`,
    { hint: 'Such as --choices written,likelihood.' },
  );
}

/** The single way of choosing for commands that take one. @throws WorkbenchError `usage` for another word, or if given twice */
function choiceOf(text: string, earlier?: Choices): Choices {
  const [choice, ...others] = choicesOf(text, earlier === undefined ? [] : [earlier]);
  if (others.length === 0) return choice!;
  throw new WorkbenchError('usage', `expected one way to choose, got ${[choice, ...others].join(',')}, at --choices`, {
    hint: 'Several: `kgwalk compare`.',
  });
}

function holdOutOf(text: string): HoldOut {
  if (/^(question|template|type(:\d{1,9})?)$/.test(text)) return text as HoldOut;
  throw new WorkbenchError(
    'usage',
    `expected question, template, type or type:N, got "${printable(text, 80)}", at --hold-out`,
  );
}

/** An option that may be given once. @throws WorkbenchError `usage` if repeated */
const once = (flag: string) => (text: string, earlier?: string) => {
  if (earlier === undefined) return text;
  throw new WorkbenchError('usage', `expected one value, got ${earlier} and ${text}, at ${flag}`);
};

/** Adds the question options shared by `evaluate`, `compare` and `ask`. @param several see `addInputOptions` */
export function addQuestionOptions(command: Command, several = false): Command {
  const choices = new Option(
    several ? '--choices <how,…>' : '--choices <how>',
    `of prompted agents: how choices are made: written by the model (written), or by the likelihood of the candidates’ own words (likelihood; the default with the embedded model, which was trained for it)${several ? '; several: every agent in each way' : ''}`,
  );
  command
    .option(
      '--model <model>',
      'of prompted agents: FILE.gguf, a name from `models list`, http://HOST:PORT/v1#NAME, or oracle:E (simulated, error rate E; not for ark-*) or oracle:E,confuse=K (errors grow with what is offered); default: the embedded model, demo',
      once('--model'),
    )
    .option(
      '--model-set <key=value>',
      'of prompted agents: contextLength, replyTokens, temperature, topP, repeats; for a file also threads, gpu, gpuLayers, heads, sequences; for a server also reasoning=auto|off, extra={json}, price=IN,CACHED,OUT[,HOUR], rpm, tpm, concurrency, retries, timeoutMs; repeatable',
      repeatable,
      [],
    )
    .option('--budget <n>', 'of prompted agents: calls allowed per question, or none (default 30)')
    .addOption(
      new Option(
        '--budget-mode <mode>',
        'of prompted agents: strict checks before every call, reference at the head of each loop',
      ).choices(['strict', 'reference']),
    )
    .addOption(several ? choices.argParser(choicesOf) : choices.choices([...choiceModes]).argParser(choiceOf))
    .addOption(
      new Option(
        '--hold-out <what>',
        'questions: what no test question may share with a train question: question, template, type, or type:N for draw N of types',
      ).argParser(holdOutOf),
    )
    .option(
      '--set <switch=value>',
      'set a switch of untrained agents, such as stateful=false; repeatable',
      repeatable,
      [],
    )
    .option('--seed <n>', 'questions: seed of agents and simulated models; does not change the sample of --limit')
    .option('--withhold-hops', 'questions: withhold the hop count from agents, even where the data set says so');
  const beside = 'to prompted agents also beside a run that is given none (default: withheld from all)';
  return several ? command.option('--give-hops', `questions: give the hop count ${beside}`) : command;
}

/** For commander: collects the values of a repeatable option in order. */
export const repeatable = (value: string, earlier: string[]): string[] => [...earlier, value];

/** For commander: parses `--max-minutes`. @throws WorkbenchError `usage` unless it is a number above 0 */
export function minutesOf(text: string): number {
  if (Number(text) > 0) return Number(text);
  throw new WorkbenchError('usage', `expected a number above 0, got ${JSON.stringify(text)}, at --max-minutes`);
}

/** Sent by people, supervisors, closing terminals; the sender may wait for the save. */
export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A signal aborted after that many minutes; does not keep the process alive. Its timer holds a reference: the signal of
 * `AbortSignal.timeout` is garbage-collected if only `AbortSignal.any` refers to it, and then never fires.
 */
export function timeLimit(minutes: number): AbortSignal {
  const longestTimer = 2 ** 31 - 1;
  const limit = new AbortController();
  setTimeout(() => limit.abort(), Math.min(Math.ceil(minutes * 60_000), longestTimer)).unref();
  return limit.signal;
}

/**
 * Adds `--threads N`: affects how a command runs, not its result, so it is neither a setting nor part of a checkpoint.
 * @param what work done by the threads, for the help
 */
export const addThreadsOption = (command: Command, what: string): Command =>
  command.option('--threads <n>', `number of threads that share ${what} (default 1); the result does not depend on it`);

/** Groups the options of one task, or of prompted agents, under a heading, and drops the prefix from their descriptions. */
export function groupOptions(command: Command): Command {
  for (const option of command.options) {
    const [said, task, agents] =
      /^(?:(dialogues|questions|links)|(of prompted agents)): /.exec(option.description) ?? [];
    if (said === undefined) continue;
    option.description = option.description.slice(said.length);
    option.helpGroup(agents === undefined ? `On ${task}:` : 'Agents that ask a language model:');
  }
  return command;
}

/** `--inputs`: hashes by which a job refuses other data and models than it was planned with. */
export const inputsOption = () => new Option('--inputs <json>').hideHelp();
