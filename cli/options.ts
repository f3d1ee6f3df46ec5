/** Options that several commands share; which of those of `evaluate`, `compare` and `ask` a task reads is the task’s to say. */
import { type Command, Option } from 'commander';
import type { HoldOut } from '../datasets/questions/question-manifest.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';
import { shardOf } from '../src/run/shards.js';
import { type Choices, choiceModes } from '../tasks/flags.js';

/** Adds what `evaluate` and `compare` share. @param several whether agents may be asked in several ways */
export function addInputOptions(command: Command, several = false): Command {
  return addQuestionOptions(
    command
      .option(
        '--dataset <name>',
        'imported data set, such as opendialkg, metaqa/2-hop or umls (default: the run’s own)',
      )
      .option('--split <split>', 'train, valid or test; for questions also names such as dev-valid', 'valid')
      .option('--limit <n>', 'evaluate only n samples, drawn with a fixed seed and thus the same for every agent')
      .option('--checkpoint <which>', 'for a run: best, last, clone or a step', 'best')
      .option(
        '--encoder <file>',
        'for agents that need text vectors: FILE.gguf, a name from `models list`, http(s)://HOST/v1#MODEL, or hashed:DIM (default: the embedded model, demo)',
      )
      .option('--backend <name>', 'for a run: tensorflow, wasm or cpu instead of the backend it was trained on')
      .option(
        '--graph <name>',
        'dialogues: graph of the data set (default: the run’s own, else dialogue); questions: sparql:URL of an endpoint whose graph the agents walk (docs/sparql.md)',
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

/** `written,likelihood`, or one after the other. @throws WorkbenchError `usage` for anything but ways to choose, each once */
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

/** The one way to choose of commands that take one. @throws WorkbenchError `usage` for any other word, or where it is given twice */
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

/** An option that may be given once. @throws WorkbenchError `usage` where it is given again */
function once(flag: string) {
  return (text: string, earlier?: string) => {
    if (earlier === undefined) return text;
    throw new WorkbenchError('usage', `expected one value, got ${earlier} and ${text}, at ${flag}`);
  };
}

/** Adds what `evaluate`, `compare` and `ask` share on questions. @param several see `addInputOptions` */
export function addQuestionOptions(command: Command, several = false): Command {
  const choices = new Option(
    several ? '--choices <how,…>' : '--choices <how>',
    `of prompted agents: how choices are made: written by the model (written), or by the likelihood of the candidates’ own words (likelihood)${several ? '; several: every agent in each way' : ''}`,
  );
  return command
    .option(
      '--model <model>',
      'of prompted agents: FILE.gguf, a name from `models list`, http://HOST:PORT/v1#NAME, or for questions oracle:E (simulated, error rate E); default: the embedded model, demo',
      once('--model'),
    )
    .option(
      '--model-set <key=value>',
      'of prompted agents: for a file: threads, gpu, gpuLayers, contextLength, heads, sequences; for a server: contextLength, concurrency, retries, timeoutMs; repeatable',
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
    .option(
      '--withhold-hops',
      'questions: do not tell agents how many relations the answer takes, even where the data set says so',
    );
}

/** For every command: an empty word is a variable of the shell that is not set, never a name, and no folder. */
export function refuseEmptyWords(program: Command): void {
  program.hook('preAction', (_, command) => {
    const given = command.options.filter((option) => command.getOptionValue(option.attributeName()) === '');
    const empty = given[0]?.long ?? (command.args.includes('') ? command.name() : undefined);
    if (empty === undefined) return;
    throw new WorkbenchError('usage', `expected a word, got an empty one, at ${empty}`, {
      hint: 'Is a variable of the shell not set?',
    });
  });
}

/** For commander: gathers the values of an option that may be given several times, in order. */
export function repeatable(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}

/** For commander: the minutes that `--max-minutes` says. @throws WorkbenchError `usage` unless it is a number above 0 */
export function minutesOf(text: string): number {
  if (Number(text) > 0) return Number(text);
  throw new WorkbenchError('usage', `expected a number above 0, got ${JSON.stringify(text)}, at --max-minutes`);
}

/**
 * Aborted after that many minutes; does not keep the process alive. Its timer holds it: the signal of `AbortSignal.timeout` is
 * lost in a garbage collection once only `AbortSignal.any` knows of it, and then never fires.
 */
export function timeLimit(minutes: number): AbortSignal {
  const longestTimer = 2 ** 31 - 1;
  const limit = new AbortController();
  setTimeout(() => limit.abort(), Math.min(Math.ceil(minutes * 60_000), longestTimer)).unref();
  return limit.signal;
}

/**
 * Adds `--threads N`: how a command is run, not what it does, so it is no setting and no checkpoint knows it.
 * @param what what the threads share, for the help
 */
export function addThreadsOption(command: Command, what: string): Command {
  return command.option(
    '--threads <n>',
    `number of threads that share ${what} (default 1); the result does not depend on it`,
  );
}

/** Adds `--shard i/n`. @param what one part is, for the help */
export function addShardOption(command: Command, what: string): Command {
  return command.option('--shard <i/n>', what, shardOf);
}

/** Puts options that one task has, or prompted agents, under a heading of their own; what they were told by goes from their descriptions. */
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
