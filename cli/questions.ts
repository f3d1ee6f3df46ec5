/** `kgwalk questions`: questions about a graph that comes without any. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine, printNote, printShown, printTable } from './output.js';

const graphArgument = 'a file of triples (.tsv, .csv, .nt, .ttl), or the name of an imported data set';
const encoderOption = 'text encoder that compares words (default: the embedded model, demo)';

/** Adds `kgwalk questions`. */
export function register(program: Command): void {
  const questions = program.command('questions').description('make questions about a graph that comes without any');
  questions
    .command('words')
    .description('write what the relations of a graph are called, for its owner to correct and add to')
    .argument('<graph>', graphArgument)
    .option('--model <model>', 'language model that is asked what kinds of things there are: FILE.gguf or a name')
    .option('--encoder <model>', encoderOption)
    .option('--to <file>', 'where to write (default: GRAPH.words.yaml, where `train --graph` finds it)')
    .option('--force', 'write over a file that is there')
    .option('--json', 'print JSON')
    .action(writeWordsFile);
  questions
    .command('make')
    .description('make a data set of questions with their answers from a graph and its words. Same seed, same bytes')
    .argument('<graph>', graphArgument)
    .option('--name <name>', 'name of the data set')
    .option(
      '--words <file>',
      'what `questions words` wrote (default: GRAPH.words.yaml if it is there, else found again)',
    )
    .option('--encoder <model>', encoderOption)
    .option(
      '--paraphrase <model>',
      'language model that says relations in other words: FILE.gguf, a name of `models list`, or http(s)://HOST/v1#MODEL; kept is what names its own relation better than any other',
    )
    .option('--count <n>', 'questions', '20000')
    .option('--hops <n>', 'longest chain of relations, 1 to 3', '3')
    .option('--seed <n>', 'seed of everything', '0')
    .option('--topics-return', 'chains may lead back to the entity that is asked about')
    .option('--test <file>', 'further questions (.jsonl, as `datasets import custom` reads them) for the split test')
    .option('--show <n>', 'print so many questions with their chains, and write nothing')
    .option('--json', 'print JSON')
    .action(make);
}

interface WordsFlags {
  model?: string;
  encoder?: string;
  to?: string;
  force?: boolean;
  json?: boolean;
}

async function writeWordsFile(place: string, { to, force = false, json, ...models }: WordsFlags): Promise<void> {
  const { findWords, openOwnGraph, openVocabulary } = await import('../tasks/own-graph.js');
  const { unclearRelations, writeWords } = await import('../datasets/generated/words-file.js');
  const { writeFileAtomic } = await import('../src/run/files.js');
  const { terminalWork } = await import('./terminal.js');
  const own = await openOwnGraph(place);
  const file = to ?? own.wordsFile;
  if (existsSync(file) && !force) {
    throw new WorkbenchError('usage', `expected a file that is not there yet, got ${file}, at --to`, {
      hint: 'Corrections in it would be lost: name another file, or add --force.',
    });
  }
  const work = terminalWork();
  const vocabulary = openVocabulary(work);
  const words = await findWords(own, vocabulary, models, work);
  writeFileAtomic(file, writeWords(words, vocabulary.name));
  const unclear = unclearRelations(words);
  if (json) return printJson({ file, relations: words.size, unclear });
  const first = unclear.length > 0 ? `; ${unclear.length} are unclear by their names and stand first` : '';
  printLine(`${file}: words for ${words.size} relations${first}`);
  printNote(
    `Read it, correct it, add to it. Then see what is asked:\n${commandLine('questions', 'make', shownPath(place), '--words', shownPath(file), '--show', '20')}`,
  );
}

interface MakeFlags {
  name?: string;
  words?: string;
  encoder?: string;
  paraphrase?: string;
  count: string;
  hops: string;
  seed: string;
  topicsReturn?: boolean;
  test?: string;
  show?: string;
  json?: boolean;
}

async function make(place: string, flags: MakeFlags): Promise<void> {
  const { name, words: file, encoder, paraphrase: model, topicsReturn = false, test, json } = flags;
  const { wholeNumber } = await import('../tasks/flags.js');
  const { importMade, questionsOf } = await import('../datasets/generated/import.js');
  const { datasetFolder } = await import('../datasets/imported-dataset.js');
  const { openOwnGraph, openVocabulary, paraphrase, wordsOf } = await import('../tasks/own-graph.js');
  const { refuseSimulated } = await import('../tasks/language-model.js');
  const { terminalWork } = await import('./terminal.js');
  const show = wholeNumber(flags.show, '--show', 1);
  if (name === undefined && show === undefined) {
    throw new WorkbenchError('usage', 'expected a name for the data set, got none, at --name');
  }
  const options = {
    count: show ?? wholeNumber(flags.count, '--count', 2),
    hops: wholeNumber(flags.hops, '--hops', 1, 3),
    seed: wholeNumber(flags.seed, '--seed', 0),
    topicsReturn,
  };
  // Checks the name before any work.
  if (name !== undefined) datasetFolder(name);
  if (model !== undefined) refuseSimulated(model, '--paraphrase');
  const own = await openOwnGraph(place);
  const work = terminalWork();
  const vocabulary = openVocabulary(work);
  const words = await wordsOf(own, vocabulary, { file, encoder }, work);
  const about =
    model === undefined ? {} : await paraphrase(own, words, vocabulary, { encoder, model, seed: options.seed }, work);
  if (show !== undefined) {
    const made = questionsOf(own, words, vocabulary, options);
    if (json) return printJson(made);
    return printTable(made.map(({ question, chains }) => ({ question, chain: chains![0]!.join(' → ') })));
  }
  const manifest = await importMade(own, words, vocabulary, { ...options, name: name!, test, about });
  const { loadTask } = await import('../tasks/index.js');
  printShown((await loadTask('questions')).datasets!.imported(manifest as never), json);
  printNote(`\n${commandLine('train', 'own-graph', '--set', `data.dataset=${name!}`, '--seeds', '0,1,2')}`);
}
