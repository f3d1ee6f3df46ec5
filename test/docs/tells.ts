/** The line by which each command tells that it did its work. */

/** By how a command begins; the longest beginning that fits counts. */
const tells: Readonly<Record<string, RegExp>> = {
  ask: /^ *1 +0\.\d{4} +\S|· \d+ calls?,|^answer/m,
  'cache info': /entries|texts|empty/,
  'checkpoint list': /best/,
  compare: /^\d+ agents .*on [\w/-]+/,
  'config explain': /ppo\.clipRange.*0\.\d/,
  'config show': /^name: \w+/,
  'datasets check': /: \d+ files as imported$/m,
  'datasets demo': /^imported demo /m,
  'datasets get': /^Then: kgwalk datasets import \w+ --from DIR$/m,
  'datasets get': /^Then: kgwalk datasets import/m,
  'datasets import': /^imported [\w-]+ · licence: \S/,
  'datasets list': /paths|questions/,
  'datasets stats': /\d+ (entities|questions)/,
  'models bench': /^encode +\d/m,
  'models info': /^architecture +llama$/m,
  'models list': /^demo +embedded/m,
  doctor: /^backend wasm +ok/m,
  evaluate: / on [\w-]+.* n = [1-9]/,
  pretrain: /(trained in \d+ epochs|kept from before): \S/,
  replay: /\d+ questions?/,
  report: /index\.html$/m,
  'runs list': /finished/,
  'runs export': /\.csv/,
  train: /runs\S+$/m,
  'train --dry-run': /^phase +work/,
};

/** Undefined for a command that this list forgot. */
export function tellOf(words: readonly string[]): RegExp | undefined {
  if (words[0] === 'train' && words.includes('--dry-run')) return tells['train --dry-run'];
  return tells[words.slice(0, 2).join(' ')] ?? tells[words[0]!];
}
