/** Names, types, ranges and defaults of settings, read from the JSON Schema form of their zod schema. */
import { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { nearestName } from './printable.js';

export interface KeySchema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: KeySchema[];
  oneOf?: KeySchema[];
  properties?: Record<string, KeySchema>;
  additionalProperties?: boolean | KeySchema;
  items?: KeySchema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
}

const keySchemas = new WeakMap<z.ZodType, KeySchema>();

/** JSON Schema of the keys accepted from a file; cached, do not modify. */
export function keySchemaOf(schema: z.ZodType): KeySchema {
  const known = keySchemas.get(schema);
  if (known) return known;
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as KeySchema;
  keySchemas.set(schema, made);
  return made;
}

/** Schema of the key at `path`; undefined for unknown keys. */
export function keySchemaAt(schema: KeySchema, path: readonly PropertyKey[]): KeySchema | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return schema;
  const own = propertiesOf(schema);
  let child = Object.hasOwn(own, first) ? own[first as string] : undefined;
  if (typeof first === 'number') child ??= alternatives(schema).find((one) => one.items)?.items;
  for (const { additionalProperties } of alternatives(schema)) {
    if (typeof additionalProperties === 'object') child ??= additionalProperties;
  }
  return child && keySchemaAt(child, rest);
}

/** True if the key is a section with keys below it. */
export const isSection = (schema: KeySchema): boolean => Object.keys(propertiesOf(schema)).length > 0;

/** Dotted names of all keys below `schema` in declaration order, sections before their keys. */
function keyNames(schema: KeySchema, prefix = ''): string[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, child]) => [
    prefix + name,
    ...keyNames(child, `${prefix}${name}.`),
  ]);
}

/** Type of a key for "expected …": `an integer in [1, 64]`, `one of adam, sgd`. Empty if anything is valid. */
export function expectation(schema: KeySchema): string {
  const many = schema.anyOf ?? schema.oneOf;
  if (many) return many.map(expectation).filter(Boolean).join(' or ');
  if (schema.const !== undefined) return display(schema.const);
  if (schema.enum) return `one of ${schema.enum.map(display).join(', ')}`;
  return [schema.type ?? []]
    .flat()
    .map((type) => expectationOfType(type, schema))
    .join(' or ');
}

function expectationOfType(type: string, schema: KeySchema): string {
  if (type === 'integer') return `an integer${rangeOf(schema)}`;
  if (type === 'number') return `a number${rangeOf(schema)}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'null') return 'null';
  if (type === 'object') return 'a section';
  if (type !== 'array') return schema.pattern ? `text that matches ${schema.pattern}` : 'text';
  const items = schema.items && expectation(schema.items);
  return `a list${schema.minItems ? ` of at least ${schema.minItems}` : ''}${items ? `, each ${items}` : ''}`;
}

/** Range of a number in interval notation, such as ` in [0, 1)`; empty without bounds. */
function rangeOf({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: KeySchema): string {
  // zod bounds every integer by the safe integers; users need not see that range.
  const [least, above, most, below] = [minimum, exclusiveMinimum, maximum, exclusiveMaximum].map((bound) =>
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : undefined,
  );
  const [low, high] = [least ?? above, most ?? below];
  const step = multipleOf === undefined ? '' : ` in steps of ${multipleOf}`;
  if (low === undefined && high === undefined) return step;
  return ` in ${least === undefined ? '(' : '['}${low ?? '-∞'}, ${high ?? '∞'}${most === undefined ? ')' : ']'}${step}`;
}

/** A value as a user would write it, cut after 60 characters. */
export function display(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number') return String(value);
  const isPlain = typeof value === 'string' && /^[\w./:~-]+$/.test(value);
  const text = isPlain ? value : (JSON.stringify(value) ?? typeof value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** Names of settings in Stable-Baselines3 and CleanRL, in lower case without `_`: policies first, then walkers. */
const foreignNames: Readonly<Record<string, string>> = {
  lr: 'ppo.learningRate',
  learningrate: 'ppo.learningRate',
  anneallr: 'ppo.lrDecay',
  nsteps: 'policy.numSteps ppo.samplesPerUpdate',
  numsteps: 'policy.numSteps ppo.samplesPerUpdate',
  nenvs: 'policy.numEnvs',
  numenvs: 'policy.numEnvs',
  totaltimesteps: 'policy.totalSteps ppo.updates',
  timesteps: 'policy.totalSteps ppo.updates',
  batchsize: 'policy.minibatchSize ppo.minibatchSamples',
  minibatchsize: 'policy.minibatchSize ppo.minibatchSamples',
  netarch: 'policy.hidden',
  nepochs: 'ppo.updateEpochs',
  updateepochs: 'ppo.updateEpochs',
  clip: 'ppo.clipRange',
  clipcoef: 'ppo.clipRange',
  cliprangevf: 'ppo.clipRangeValue',
  clipvloss: 'ppo.clipRangeValue',
  entcoef: 'ppo.entropyCoef',
  vfcoef: 'ppo.valueCoef',
  discount: 'ppo.gamma',
  lam: 'ppo.gaeLambda',
  maxgradnorm: 'ppo.maxGradNorm',
  normadv: 'ppo.normalizeAdvantage',
  beamsize: 'evaluation.beamWidth',
  maxtokens: 'replyTokens',
  maxcompletiontokens: 'replyTokens',
};

/**
 * Valid name closest to a wrong one: a synonym of another library, a prefix among its siblings, a misspelling, or the
 * same last part in another section.
 * @param key dotted
 */
export function nearestKey(schema: KeySchema, key: string): string | undefined {
  const names = keyNames(schema);
  const folded = (name: string) => name.replaceAll(/[_-]/g, '').toLowerCase();
  const section = key.slice(0, key.lastIndexOf('.') + 1);
  const last = key.slice(section.length);
  const word = folded(last);
  const foreign = (Object.hasOwn(foreignNames, word) ? foreignNames[word]! : '')
    .split(' ')
    .filter((one) => names.includes(one));
  const meant = foreign.filter((one) => one.startsWith(section));
  // A similar sibling such as `clone.batchSize` takes precedence over another library's name.
  const isKey = names.some((name) => name.startsWith(section) && folded(name.slice(section.length)) === word);
  if (foreign.length > 0 && !isKey && (meant.length > 0 || section === 'ppo.' || section === 'policy.')) {
    return (meant.length > 0 ? meant : foreign).join(' or ');
  }
  const begun = names.filter((name) => name.startsWith(section) && folded(name.slice(section.length)).startsWith(word));
  if (section !== '' && word.length >= 2 && begun.length > 0) return begun[0];
  const siblings = names.filter((name) => name.startsWith(section) && !name.slice(section.length).includes('.'));
  const nearest = (wanted: string, among: readonly string[], part: (name: string) => string) => {
    // The first name wins where several share a last part.
    const byPart = new Map([...among].reverse().map((name) => [part(name), name]));
    return byPart.get(nearestName(wanted, byPart.keys()) ?? '');
  };
  return (
    nearest(last, siblings, (name) => name.slice(section.length)) ??
    nearest(last, names, (name) => name.slice(name.lastIndexOf('.') + 1)) ??
    nearest(key, names, (name) => name)
  );
}

function alternatives(schema: KeySchema): KeySchema[] {
  return [schema, ...(schema.anyOf ?? schema.oneOf ?? []).flatMap(alternatives)];
}

function propertiesOf(schema: KeySchema): Record<string, KeySchema> {
  return Object.assign({}, ...alternatives(schema).map((one) => one.properties ?? {})) as Record<string, KeySchema>;
}

/**
 * Explains one key, every key of a section, or all keys.
 * @returns `takes` as `expectation`; the default is undefined for optional keys
 * @throws WorkbenchError `usage` for an unknown name, with the closest one
 */
export function explainConfig(schema: z.ZodType, key = '') {
  const root = keySchemaOf(schema);
  const path = key === '' ? [] : key.split('.');
  const found = keySchemaAt(root, path);
  if (!found) {
    const near = nearestKey(root, key);
    throw new WorkbenchError('usage', `unknown key ${key}${near ? `; did you mean ${near}?` : ''}`, {
      hint: 'All keys: `kgwalk config explain`.',
    });
  }
  const prefix = key === '' ? '' : `${key}.`;
  const names = isSection(found) ? keyNames(found).map((name) => prefix + name) : [key];
  return names.flatMap((name) => {
    const one = keySchemaAt(root, name.split('.'))!;
    if (isSection(one)) return [];
    return [{ key: name, takes: expectation(one), default: one.default, description: one.description ?? '' }];
  });
}
