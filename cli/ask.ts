/** `kgwalk ask`: one question to a trained walker, a prompted agent or a link ranker. */
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import type { EvaluationFlags } from '../tasks/flags.js';
import { addQuestionOptions, groupOptions } from './options.js';
import { printShown } from './output.js';

/** Adds `kgwalk ask`. */
export function register(program: Command): void {
  const command = program
    .command('ask')
    .description('ask a custom question to a run, or to any agent over the graph of a data set')
    .argument(
      '<run-or-question>',
      'name or folder of a run, RUN+RUN for several as one, RUN,RUN for several that must agree; with --agent or --graph FILE the question, or for links the head',
    )
    .argument(
      '[question]',
      'what is said or asked; for questions, [brackets] mark the topic entities; for links see below',
    )
    .argument('[relation]', 'for links: RUN HEAD RELATION, or with --agent HEAD RELATION; ~RELATION asks for heads')
    .option(
      '--agent <name>',
      'use this agent instead of a run: for questions such as fiske; for links transe, bilinear, rules, random or a run',
    )
    .option(
      '--dataset <name>',
      'questions, links: data set whose graph to answer from, such as metaqa (default: the run’s own)',
    )
    .option('--start <entity>', 'dialogues: name of the entity to start from, as in the graph')
    .option(
      '--dialogue <file>',
      'dialogues: what was said and walked before: one dialogue in the format of the release (.json, .jsonl, .csv)',
    )
    .option('--checkpoint <which>', 'best, last, clone or a step', 'best')
    .option(
      '--encoder <file>',
      'for agents that need text vectors: FILE.gguf, a name from `models list`, http(s)://HOST/v1#MODEL, or hashed:DIM (default: the embedded model, demo)',
    )
    .option(
      '--backend <name>',
      'simd, webgpu, tensorflow, tensorflow-gpu or wasm instead of the backend the run was trained on',
    )
    .option(
      '--graph <source>',
      'questions: sparql:URL of an endpoint whose graph is walked instead of the data set’s own (docs/how-to/sparql.md); without a run a file of triples, whose readers are trained first where they are not there yet (docs/how-to/your-questions.md)',
    )
    .option('--trace', 'questions: show what the agent did, step by step')
    .option('--beam-width <n>', 'links: number of walks kept after each step (default: the run’s own)')
    .option('--config <preset>', 'links: preset by which the agents transe and bilinear are trained')
    .option('--top <n>', 'number of paths or answers to show', '10');
  groupOptions(addQuestionOptions(command)).option('--json', 'print JSON').action(ask);
}

type Flags = EvaluationFlags & { json?: boolean };

async function ask(first: string, second: string | undefined, third: string | undefined, flags: Flags): Promise<void> {
  const { isSparqlSource } = await import('../src/kg/sparql/source.js');
  const { agent, graph, ...others } = flags;
  const byAgent = agent !== undefined;
  if (!byAgent && second === undefined && graph !== undefined && !isSparqlSource(graph)) {
    const { trainOnGraph } = await import('./train.js');
    return answer((await trainOnGraph(graph, flags.encoder)).join(','), [first], others);
  }
  if (!byAgent && second === undefined) {
    throw new WorkbenchError(
      'usage',
      'expected a run and a question, or --agent NAME and a question, got only one of them',
      { hint: 'kgwalk ask RUN "QUESTION", or kgwalk ask "QUESTION about [TOPIC]" --agent NAME --dataset NAME' },
    );
  }
  const words = [...(byAgent ? [first] : []), second, third].filter((word) => word !== undefined);
  if (byAgent) return answer(agent, words, flags);
  const { requireTrained } = await import('../tasks/named-runs.js');
  requireTrained(first);
  return answer(first, words, flags);
}

/** @param name of an agent or a run, or of several runs that answer where they agree */
async function answer(name: string, words: readonly string[], flags: Flags): Promise<void> {
  const { taskFor, terminalWork } = await import('./terminal.js');
  const { resolve } = await import('../tasks/named.js');
  const { lacks } = await import('../tasks/index.js');
  const { membersOf } = await import('../tasks/task.js');
  const { changedPluginsOf } = await import('../src/run/plugins.js');
  // `--agent` may name a run, too: `--agent RUN HEAD RELATION`.
  const named = { name, isRun: flags.agent === undefined ? true : undefined };
  const task = await taskFor([named], flags);
  const work = terminalWork();
  const which = resolve(task, named, flags);
  const { trained } = which;
  const members = trained ? membersOf(trained) : [];
  for (const line of new Set(members.flatMap(({ run }) => changedPluginsOf(run)))) work.note(line);
  const { open, agreement } = task.ask ?? lacks('something to ask', 'an environment of episodes');
  const opened = agreement && trained?.agree ? agreement({ ...which, trained }, flags, work) : open(which, flags, work);
  try {
    printShown(await opened.ask(words), flags.json);
  } finally {
    await opened.close();
  }
}
