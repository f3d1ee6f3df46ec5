/** The line by which each command reports success. */

/** By the first word of a command, or its first two. */
const successLines: Readonly<Record<string, RegExp>> = {
  ask: /^(answered by (run|agent) \S|not sure: )/m,
  compare: /^\d+ agents .*on [\w/-]+/,
  'config explain': /^[\w.]+: .+, default \S/m,
  'datasets check': /found none of the \d+ samples of test in (\d+) of \1 artifacts|\d+ files as imported/,
  'datasets demo': /^(imported [\w-]+ |wrote \d+ triples)/m,
  'datasets get': /^Then: kgwalk datasets import/m,
  'datasets import': /^imported [\w-]+ · licence: \S/,
  'datasets stats': /\d+ (entities|questions)/,
  'models info': /^architecture +llama$/m,
  'models list': /^demo +embedded/m,
  'checkpoint export': /\.(safetensors|gguf)$/m,
  'rules show': /^precision +right +of/m,
  completion: /^_kgwalk\(\) \{/m,
  doctor: /^backend wasm +ok/m,
  export: /\.html$/m,
  encode: /^\d+ texts.*: \d+ encoded by /m,
  'evaluate --dry-run': /^\d+ samples by oracle:[\d.]+: [1-9]\d* calls, /m,
  evaluate: / on [\w-]+.* n = [1-9]/,
  predict: /^predicted by (run|agent) \S/m,
  pretrain: /^scorer +split +asked/m,
  replay: /^\d+ samples? replayed: every byte as it was saved$/m,
  'oracle fit': /^--model oracle:0\.\d+,confuse=\d+\.\d+$/m,
  'plan collect': /^(\d+) of \1 results in /m,
  'plan status': /^jobs +done/m,
  'runs list': /^run +status/m,
  'questions make': /^(question +chain$|imported \S+ · licence: )/m,
  'questions words': /: words for \d+ relations/,
  report: /index\.html$/m,
  sweep: /^Best on valid: trial \d+, eval\//m,
  train: /runs\S+$/m,
  'train --dry-run': /^total: about /m,
  work: /^[1-9]\d* results made here, 0 were there, 0 tries failed$/m,
  write: /^\d+ jobs in \S+$/m,
};

/** Undefined for a command that this list lacks. */
export function successLineOf(words: readonly string[]): RegExp | undefined {
  if (words.includes('--dry-run')) return successLines[`${words[0]} --dry-run`];
  if (words[0] !== 'datasets' && words.includes('--write')) return successLines.write;
  return successLines[words.slice(0, 2).join(' ')] ?? successLines[words[0]!];
}
