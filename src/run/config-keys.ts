/** What a settings schema says about its keys: names, types, ranges, defaults. Read from its JSON Schema form. */
import { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { nearestName } from './printable.js';

/** The part of JSON Schema (draft 2020-12) that settings use. */
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
  minLength?: number;
  pattern?: string;
}

const keySchemas = new WeakMap<z.ZodType, KeySchema>();

/** The keys a schema accepts from a file, as JSON Schema; made once, not to be changed. */
export function keySchemaOf(schema: z.ZodType): KeySchema {
  const known = keySchemas.get(schema);
  if (known) return known;
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as KeySchema;
  keySchemas.set(schema, made);
  return made;
}

/** The schema of the key at `path`, or undefined where no key has that name. */
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

/** Whether the key is a section: one that has keys of its own. */
export function isSection(schema: KeySchema): boolean {
  return Object.keys(propertiesOf(schema)).length > 0;
}

/** Dotted names of all keys below `schema`, in the order they are declared, sections before their keys. */
function keyNames(schema: KeySchema, prefix = ''): string[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, child]) => [
    prefix + name,
    ...keyNames(child, `${prefix}${name}.`),
  ]);
}

/** What a key takes, as in "expected …": `an integer in [1, 64]`, `one of adam, sgd`. Empty where anything goes. */
export function expectation(schema: KeySchema): string {
  const many = schema.anyOf ?? schema.oneOf;
  if (many) return many.map(expectation).filter(Boolean).join(' or ');
  if (schema.const !== undefined) return display(schema.const);
  if (schema.enum) return `one of ${schema.enum.map(display).join(', ')}`;
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return types.map((type) => expectationOfType(type, schema)).join(' or ');
}

/** The range of a number in interval notation, such as `[0, 1)`; undefined for one without bounds. */
function rangeOf(schema: KeySchema): string | undefined {
  const { minimum, exclusiveMinimum, multipleOf } = schema;
  // zod bounds every integer by what a double holds exactly; that is no range to tell a user.
  const unsafe = (bound?: number) =>
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : undefined;
  const low = unsafe(minimum) ?? unsafe(exclusiveMinimum);
  const high = unsafe(schema.maximum) ?? unsafe(schema.exclusiveMaximum);
  const step = multipleOf === undefined ? '' : ` in steps of ${multipleOf}`;
  if (low === undefined && high === undefined) return step.trim() || undefined;
  const opens = low === undefined || unsafe(minimum) === undefined ? '(' : '[';
  const closes = high === undefined || unsafe(schema.maximum) === undefined ? ')' : ']';
  return `${opens}${low ?? '-∞'}, ${high ?? '∞'}${closes}${step}`;
}

/** A value as a user would write it, cut after 60 characters. */
export function display(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number') return String(value);
  const isPlain = typeof value === 'string' && /^[\w./:~-]+$/.test(value);
  const text = isPlain ? value : (JSON.stringify(value) ?? typeof value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** What Stable-Baselines3 and CleanRL call settings of ours, without `_` and in small letters; of policies, then of walkers. */
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
};

/**
 * The valid name nearest to a wrong one: the name that others have for it, the beginning of a name beside it, a misspelling of one, else the
 * same last part in another section.
 * @param key dotted
 */
export function nearestKey(schema: KeySchema, key: string): string | undefined {
  const names = keyNames(schema);
  const folded = (name: string) => name.replaceAll(/[_-]/g, '').toLowerCase();
  const word = folded(key.slice(key.lastIndexOf('.') + 1));
  const section = key.slice(0, key.lastIndexOf('.') + 1);
  const foreign = (Object.hasOwn(foreignNames, word) ? foreignNames[word]! : '')
    .split(' ')
    .filter((one) => names.includes(one));
  const meant = foreign.filter((one) => one.startsWith(section));
  // A key beside it that is spelt alike, such as `clone.batchSize`, goes before what another library calls so.
  const isKey = names.some((name) => name.startsWith(section) && folded(name.slice(section.length)) === word);
  if (foreign.length > 0 && !isKey && (meant.length > 0 || section === 'ppo.' || section === 'policy.')) {
    return (meant.length > 0 ? meant : foreign).join(' or ');
  }
  const begun = names.filter((name) => name.startsWith(section) && folded(name.slice(section.length)).startsWith(word));
  if (section !== '' && word.length >= 2 && begun.length > 0) return begun[0];
  const parent = key.slice(0, key.lastIndexOf('.') + 1);
  const last = key.slice(parent.length);
  const beside = names.filter((name) => name.startsWith(parent) && !name.slice(parent.length).includes('.'));
  const nearest = (wanted: string, among: readonly string[], part: (name: string) => string) => {
    // The first name wins where several share a last part.
    const byPart = new Map([...among].reverse().map((name) => [part(name), name]));
    return byPart.get(nearestName(wanted, byPart.keys()) ?? '');
  };
  return (
    nearest(last, beside, (name) => name.slice(parent.length)) ??
    nearest(last, names, (name) => name.slice(name.lastIndexOf('.') + 1)) ??
    nearest(key, names, (name) => name)
  );
}

function expectationOfType(type: string, schema: KeySchema): string {
  const range = rangeOf(schema);
  const bounds = range?.startsWith('in') ? ` ${range}` : range ? ` in ${range}` : '';
  switch (type) {
    case 'integer':
      return `an integer${bounds}`;
    case 'number':
      return `a number${bounds}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array': {
      const items = schema.items && expectation(schema.items);
      const least = schema.minItems ? ` of at least ${schema.minItems}` : '';
      return `a list${least}${items ? `, each ${items}` : ''}`;
    }
    case 'object':
      return 'a section';
    default:
      return schema.pattern ? `text that matches ${schema.pattern}` : 'text';
  }
}

function alternatives(schema: KeySchema): KeySchema[] {
  return [schema, ...(schema.anyOf ?? schema.oneOf ?? []).flatMap(alternatives)];
}

function propertiesOf(schema: KeySchema): Record<string, KeySchema> {
  return Object.assign({}, ...alternatives(schema).map((one) => one.properties ?? {})) as Record<string, KeySchema>;
}

interface KeyExplanation {
  /** Dotted name. */
  key: string;
  /** What it takes, with range or allowed values: `an integer in [1, 64]`, `one of path, target`. */
  takes: string;
  /** Value when nothing is given; undefined where the key may be absent. */
  default: unknown;
  description: string;
}

/**
 * Explains one key, or every key of a section; without a key, all of them.
 * @throws WorkbenchError `usage` for a name the schema does not have, with the nearest one
 */
export function explainConfig(schema: z.ZodType, key = ''): KeyExplanation[] {
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
