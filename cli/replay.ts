/** `kgwalk replay`: repeats a finished evaluation from the stored completions. */
import type { Command } from 'commander';
import type { Replay } from '../evaluation/replay.js';
import type { Row } from '../evaluation/score.js';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine, printSections } from './output.js';

interface ReplayFlags {
  question?: string;
  encoder?: string;
  evaluations?: string;
  json?: boolean;
}

/** Adds `kgwalk replay`. */
export function register(program: Command): void {
  program
    .command('replay')
    .description('repeat an evaluation without a model, and compare every byte with what it saved')
    .argument('<evaluation>', 'name or folder of an evaluation, as printed by `kgwalk evaluate`')
    .option('--question <id>', 'this sample alone, with its trace')
    .option('--encoder <file>', 'the encoder, if its file has moved: FILE.gguf or a name of `models list`')
    .option('--evaluations <dir>', 'where evaluations are kept (default runs/evaluations)')
    .option('--json', 'print JSON')
    .action(replay);
}

/** Replays, prints, and fails if a byte differs. */
async function replay(evaluation: string, { question, encoder, evaluations, json }: ReplayFlags): Promise<void> {
  const { readAsked } = await import('../evaluation/keep.js');
  const { replayEvaluation } = await import('../evaluation/replay.js');
  const { openReplayed } = await import('../tasks/replay.js');
  const { terminalWork } = await import('./terminal.js');
  const asked = readAsked(evaluation, evaluations);
  const { folder } = asked;
  const work = terminalWork();
  const { task, data, agent, close } = await openReplayed(asked, encoder, work);
  try {
    const { excluded, examples } = data;
    const options = { asked, only: question, excluded, examples, signal: work.signal };
    const result = await replayEvaluation(agent.asker, data.samples, agent.scorer, options);
    const { rows, traced, ...summary } = result;
    const [row] = rows;
    if (json) printJson({ evaluation: folder, ...summary, ...(question !== undefined && { row, ...traced[0] }) });
    else if (question !== undefined)
      printSections(task.results?.trace?.(row!, traced[0]!, data) ?? [{ title: '', lines: [JSON.stringify(row)] }]);
    if (!result.identical) throw differs(result, folder);
    if (!json) printLine(`${result.n} ${result.n === 1 ? 'sample' : 'samples'} replayed: every byte as it was saved`);
  } finally {
    await close();
  }
}

function differs({ different, differentFiles, first, n }: Replay<Row>, folder: string): WorkbenchError {
  const where = first ? `sample ${first.id} first, in ${first.file}` : differentFiles.join(', ');
  const count = different.length > 0 ? `${different.length} of ${n} samples that differ` : 'files that differ';
  return new WorkbenchError('data', `expected the bytes of the evaluation, got ${count} (${where}), at ${folder}`, {
    hint: first
      ? `\`${commandLine('replay', shownPath(folder), '--question', first.id)}\` shows what came out now.`
      : 'Rows and traces are equal; only what is counted from them differs.',
  });
}
