/** Stand-ins for a reader's files in the examples, and settings that turn hours into seconds. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { folderWith } from '../fixtures/tiny-release.js';
import { tinyOverrides } from '../fixtures/tiny-training.js';
import { releaseOf } from './film-releases.js';

/** Files that the examples of a page have made so far. */
export interface Surroundings {
  /** The working folder. */
  folder: string;
  /** Files of the reader, by name, from blocks of data on the page: they go into the next release of format `custom`. */
  given: Record<string, string>;
}

/** A smaller version of the files that `npm start` leaves. */
export const quickstartLeft: readonly string[] = [
  'kgwalk datasets demo --entities 300 --dialogues 30 --questions 100',
  'kgwalk train demo --model MODEL.gguf --run-dir runs/quickstart/dialogues',
];

/** Files that a reader has and we have not. */
const encoders = [
  'MODEL.gguf',
  'all-minilm-l6-v2',
  'M.gguf',
  'MiniLM.gguf',
  'all-MiniLM-L6-v2.gguf',
  'all-MiniLM-L6-v2.Q8_0.gguf',
  'SmolLM2-135M-Instruct.Q8_0.gguf',
];
const chatModels = [
  'CHAT.gguf',
  'SmolLM2.gguf',
  'SmolLM2-135M-Instruct.Q4_1.gguf',
  'smollm2-135m-instruct',
  'qwen2.5-0.5b-instruct',
];

/** Names of FB15k-237 and of the demo, mapped to names in the small test data. */
const tinyWords: Readonly<Record<string, string>> = {
  'Tom Hanks': 'Ivy Stone',
  'Riska Rising': 'Under Merune Skies',
  'what language is [Crilmar Rising] in': 'what language is [Under Merune Skies] in',
  'Forrest Gump': 'Northland',
  '/film/actor/film./film/performance/film': 'citizen_of',
  '~/film/actor/film./film/performance/film': '~citizen_of',
  '/people/person/nationality': 'citizen_of',
};

/** Files of the reader's own that no block of data shows. */
const ownFiles: Readonly<Record<string, string>> = { 'films.tsv': 'triples.tsv', 'mine.jsonl': 'questions.jsonl' };

/** The words of a command with files of ours in place of the reader's. */
export function withStandIns(words: readonly string[], { folder, given }: Surroundings): string[] {
  return words.map((word, i) => {
    if (encoders.includes(word)) return 'hashed:32';
    if (chatModels.includes(word)) return 'demo';
    if (word in tinyWords) return tinyWords[word]!;
    if (word in ownFiles) writeFileSync(join(folder, word), releaseOf('custom', given)[ownFiles[word]!]!);
    if (word === 'DIR') return folderWith(releaseOf(words[words.indexOf('import') + 1]!, given));
    if (/^(walker=)?RUN(@|$)/.test(word)) return word.replace('RUN', newest(join(folder, 'runs'), 'config.yaml'));
    if (/^([\w.]+=)?EVALUATION…?$/.test(word)) {
      return word.replace(/EVALUATION…?$/, newest(join(folder, 'runs', 'evaluations'), 'evaluation.json'));
    }
    if (words[i - 1] === '--question')
      return anyQuestion(newest(join(folder, 'runs', 'evaluations'), 'evaluation.json'));
    return word;
  });
}

/** The folder of the last run or evaluation: the last one whose `file` was written. */
function newest(parent: string, file: string): string {
  const files = readdirSync(parent).map((name) => join(parent, name, file));
  const age = (path: string) => statSync(path).mtimeMs;
  const [last] = files.filter((path) => existsSync(path)).sort((a, b) => age(b) - age(a));
  return resolve(last!, '..');
}

function anyQuestion(evaluation: string): string {
  const [first] = readFileSync(join(evaluation, 'answers.jsonl'), 'utf8').split('\n');
  return (JSON.parse(first!) as { id: string }).id;
}

/** Settings that make the recommended ones fit a dozen films. Appended after those of the example. */
const dialogues = [
  ...tinyOverrides.slice(1),
  ...['walker.componentDim=16', 'walker.width=32', 'walker.hidden=16'],
  ...['walker.recurrentUnits=16', 'walker.transformerLayers=1'],
  ...['transe.epochs=1', 'clone.epochs=1', 'clone.batchSize=16', 'ppo.updates=2', 'checkpoint.everyUpdates=2'],
];
const questions = [
  'backend=simd',
  'relationWalker.questionWidth=16',
  'relationWalker.width=16',
  'ppo.updates=2',
  'ppo.samplesPerUpdate=8',
  'ppo.minibatchSamples=4',
  'checkpoint.everyUpdates=2',
];
const languageModel = [
  'backend=simd',
  'evaluation.resamples=10',
  'clone.epochs=1',
  ...['ppo.updates=2', 'ppo.evalEvery=2', 'ppo.evalSamples=8', 'checkpoint.everyUpdates=2'],
  ...['ppo.samplesPerUpdate=4', 'ppo.minibatchSamples=4', 'ppo.explorations=4'],
];
const readers = [
  'reader.width=8',
  'reader.fit.steps=4',
  'reader.fit.batchSize=8',
  'reader.fit.evalEvery=2',
  'reader.pretrain.steps=2',
  'reader.table.dim=16',
  'reader.table.epochs=1',
];
const links = [
  'backend=simd',
  ...['transe.dim=16', 'transe.epochs=2', 'bilinear.dim=16', 'bilinear.epochs=2'],
  ...['linkWalker.vectorDim=8', 'linkWalker.pathDim=8', 'linkWalker.width=16'],
  ...['clone.epochs=1', 'ppo.updates=4', 'ppo.evalEvery=2', 'checkpoint.everyUpdates=2'],
  ...['ppo.samplesPerUpdate=8', 'ppo.minibatchSamples=8', 'ppo.explorations=2'],
];
const shrunk: Readonly<Record<string, readonly string[]>> = {
  'fb15k-237-walk': links,
  'umls-walk': links,
  'kinship-walk': links,
  opendialkg: dialogues,
  'opendialkg-walkers': dialogues,
  'llm-ark-2024': dialogues,
  'llm-ark-2024-ui': dialogues,
  dialogues,
  demo: dialogues,
  'demo-questions': questions,
  metaqa: questions,
  questions,
  'llm-policy': languageModel,
  student: [...questions, 'clone.epochs=2'],
  readers,
  ...{ 'own-graph': readers, '--graph': readers },
  policy: ['policy.totalSteps=2048'],
};

/** A world that is quick to encode. */
const smallWorld = ['--entities', '300', '--dialogues', '30', '--questions', '100'];

/** Numbers by option, replacing those of the examples. */
const few: Readonly<Record<string, string>> = {
  '--limit': '1',
  '--trials': '2',
  '--halving': '1',
  '--parts': '2',
  '--budget': '2',
};

/** The same command with less to do: one question, two seeds (a sweep: one), small networks, few updates. */
export function shrink(words: readonly string[]): string[] {
  const [command, preset] = words;
  const settings = ['train', 'pretrain', 'sweep'].includes(command!)
    ? (shrunk[preset!.replace(/-tiny$/, '')] ?? [])
    : [];
  const less = words.map((word, i) => {
    const fewer = few[words[i - 1]!];
    if (fewer !== undefined) return fewer;
    if (words[i - 1] === '--seeds' && preset !== 'own-graph')
      return command === 'sweep' ? '1' : word.split(',', 2).join();
    return words[i - 1] === '--grid' ? word.split(',', 2).join() : word;
  });
  return [...less, ...settings.flatMap((setting) => ['--set', setting]), ...ownFolder(words), ...briefly(words)];
}

/** Less to ask a real model, where the example does not say how much. */
function briefly(words: readonly string[]): string[] {
  if (words.join(' ') === 'datasets demo') return smallWorld;
  if (!words.includes('demo') || !words.some((word) => word.startsWith('metaqa'))) return [];
  const limits = words[0] === 'ask' ? ['--budget'] : ['--budget', '--limit'];
  return limits.filter((option) => !words.includes(option)).flatMap((option) => [option, few[option]!]);
}

/** The same code with less to train. */
export function shrinkCode(text: string): string {
  const short = text.replaceAll(/totalSteps: \d00_000/g, 'totalSteps: 3_000');
  return short.replaceAll("'encoder.model=hashed:32'", tinyOverrides.map((setting) => `'${setting}'`).join());
}

/** Runs of one second and seed would share the folder that is named after both. */
function ownFolder(words: readonly string[]): string[] {
  const named = words[0] !== 'train' || words.includes('--run-dir') || words.includes('--graph');
  return named ? [] : ['--run-dir', join('runs', `${words[1]}-${readdirSync('.', { recursive: true }).length}`)];
}

/** Writes a block of data where the commands after it expect it. */
export function save(name: string, text: string, surroundings: Surroundings): void {
  surroundings.given[name] = text;
  writeFileSync(join(surroundings.folder, name), text);
}
