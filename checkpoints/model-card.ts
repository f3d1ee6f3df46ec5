/** A model card: what a checkpoint is, what it was trained on and scores, in one page of Markdown. */
import { stringify } from 'yaml';
import { printable } from '../src/run/printable.js';
import type { Checkpoint, CheckpointHeader, JsonObject } from './checkpoint.js';

const kinds: Record<CheckpointHeader['kind'], string> = {
  walker: 'A policy that answers by walking the edges of a knowledge graph, on top of a frozen text encoder.',
  embedding: 'Vectors of the entities and relations of a knowledge graph.',
};

/**
 * Writes the card of a checkpoint; equal checkpoints have equal cards.
 * @param name what to call it, such as `ppo-000120`
 * @param shown the longer parts; default all
 */
export function modelCard(
  name: string,
  { header, tensors }: Checkpoint,
  shown: { tensors: boolean; settings: boolean } = { tensors: true, settings: true },
): string {
  const entries = Object.entries(tensors);
  const numbers = entries.reduce((sum, [, { data }]) => sum + data.length, 0);
  const facts = [
    ['phase', `${header.phase}, step ${header.step}, epoch ${header.epoch}`],
    ['numbers', `${numbers} in ${entries.length} tensors`],
    ['config', header.configHash],
    ...Object.entries(header.hashes),
  ];
  const metrics = Object.entries(header.metrics).map(([key, value]) => [key, String(Number(value.toPrecision(5)))]);
  const shapes = entries.map(([tensor, { shape }]) => [tensor, shape.join(' × ') || 'scalar']);
  return `${[
    `# ${inline(name)}`,
    kinds[header.kind],
    table(['', ''], facts),
    '## Scores',
    'On the validation split while training, without intervals; `kgwalk evaluate` measures with them.',
    metrics.length > 0 ? table(['metric', 'value'], metrics) : 'None yet.',
    '## Limits',
    'Its numbers mean something on the graph, the vocabulary and the encoder named above and nowhere else; kgwalk refuses it elsewhere. ' +
      'The licence of the data it was trained on applies to it.',
    ...(shown.tensors ? ['## Tensors', table(['name', 'shape'], shapes)] : []),
    ...(shown.settings ? ['## Settings', fenced(stringify(header.config))] : []),
  ].join('\n\n')}\n`;
}

/**
 * What a hub reads of a card, as YAML before it: licence, data set, tags and scores.
 * @param licence of the data it was trained on, in words; left out where it is not known
 * @source the metadata of model cards as Hugging Face reads them: `model-index`, `license: other` with `license_name`
 */
export function frontMatter(name: string, { header }: Checkpoint, licence?: string): string {
  const { data, env } = header.config as { data?: JsonObject; env?: JsonObject };
  const dataset = typeof data?.dataset === 'string' ? data.dataset : undefined;
  const task = header.kind === 'walker' ? 'reinforcement-learning' : 'graph-ml';
  const metrics = Object.entries(header.metrics).flatMap(([key, value]) => {
    const figure = /^eval\/(.+)/.exec(key)?.[1];
    return figure === undefined ? [] : [{ type: figure, name: figure, value: Number(value.toPrecision(5)) }];
  });
  const scored = { task: { type: task }, dataset: { type: dataset, name: dataset, split: 'validation' }, metrics };
  const tags = ['kgwalk', 'knowledge-graph', task, header.phase, ...(typeof env?.id === 'string' ? [env.id] : [])];
  const facts = {
    ...licenceOf(licence),
    library_name: 'kgwalk',
    pipeline_tag: task,
    tags: [...new Set(tags)],
    datasets: dataset === undefined ? undefined : [dataset],
    metrics: metrics.length > 0 ? metrics.map(({ type }) => type) : undefined,
    'model-index': metrics.length > 0 && dataset !== undefined ? [{ name, results: [scored] }] : undefined,
  };
  return `---\n${stringify(facts)}---\n`;
}

/** Hub identifier of a Creative Commons licence; other licences of data sets have none. */
function licenceOf(licence?: string): Record<string, string> {
  if (licence === undefined) return {};
  const known = /^CC[- ](BY(?:-(?:NC|SA|ND))*)[- ](\d\.\d)(?! [^(]*;)(?:$| \()/.exec(licence);
  if (known) return { license: `cc-${known[1]!}-${known[2]!}`.toLowerCase() };
  return { license: 'other', license_name: printable(licence) };
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const body = rows.map(([key, value]) => line([inline(key!), inline(value!)]));
  return [line(head), line(head.map(() => '---')), ...body].join('\n');
}

/** Text as code that can neither end the code nor the table cell. */
const inline = (text: string): string => `\`${printable(text).replaceAll('`', "'").replaceAll('|', '¦')}\``;

/** A block that no line of the text can end. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}yaml\n${text.trimEnd()}\n${fence}`;
}
