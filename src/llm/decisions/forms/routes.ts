/** Chains of relations and paths of the graph, each one of those that exist. */
import type { ChainsDecision, ChainsReply, PathsDecision, PathsReply } from '../../decision.js';
import { arrow, pathNames, pathText, shownName } from '../prompt-text.js';
import type { ReplyForm } from '../reply-form.js';
import { type Effort, field, fullEffort, listOf, OfferedNames, splitList, unwrapped } from '../reply-values.js';
import { looseValues } from '../loose-json.js';

/** `{"chains":[["directed_by","~directed_by"]]}`: relation names, each list one of those that exist. */
export const chainsForm: ReplyForm<ChainsDecision> = {
  instruction: () =>
    'Reply with JSON that holds "chains", a list of lists of relations in the order in which they are followed; ~ marks one that is followed backwards.',
  limits: (decision) => {
    const count = wanted(decision);
    return `Write ${count === 1 ? '1 chain' : `${count} different chains`} of length ${decision.hops}.`;
  },
  write: ({ relationName }, { chains }) => ({
    chains: chains.map((chain) => chain.map((relation) => shownName(relationName(relation)))),
  }),
  shape(decision) {
    const count = wanted(decision);
    const sequences = decision.allowed.map((chain) => chain.map((id) => shownName(decision.relationName(id))));
    return { fields: { chains: { list: { sequences: count > 0 ? sequences : [[]] }, min: count, max: count } } };
  },
  read(decision, value, lenient) {
    const list = listOf(field(value, 'chains', lenient, ['chain', 'paths']) ?? (lenient ? value : undefined));
    if (!list) return undefined;
    const single = lenient && list.length > 0 && list.every((name) => typeof name === 'string' && !/->|→|,/.test(name));
    return chainsOf(decision, single ? [list] : list, lenient);
  },
  readLines(decision, lines) {
    const written = lines.map((line) => unwrapped(line.replace(/^(?:\w+(?:\s+\d{1,2})?)?\s*[.):]\s*/, '')));
    return chainsOf(decision, written, true);
  },
};

const wanted = ({ count, allowed }: ChainsDecision | PathsDecision): number => Math.min(count, allowed.length);

/** Chains that are not allowed are dropped, repeated ones too; unreadable where none is left. */
function chainsOf(decision: ChainsDecision, written: readonly unknown[], lenient: boolean): ChainsReply | undefined {
  const vocabulary = [...new Set(decision.allowed.flat())];
  const names = vocabulary.map((relation) => shownName(decision.relationName(relation)));
  const bareNames = [...new Set(names.map(withoutDirection))];
  const offered = new OfferedNames(names);
  const bare = new OfferedNames(bareNames, offered.effort);
  const snapped = (part: string) =>
    names[offered.snap(part) ?? -1] ?? bareNames[bare.snap(withoutDirection(part)) ?? -1];
  const exact = chainsByNames(decision, (name) => name);
  const undirected = lenient ? chainsByNames(decision, withoutDirection) : exact;
  const chains = new Set<readonly number[]>();
  for (const entry of written) {
    const parts = namesOf(entry, lenient);
    const known = parts?.map((part) => (lenient ? snapped(part) : part)).filter((name) => name !== undefined);
    if (!known || known.length !== parts!.length) continue;
    const found = exact.get(chainKey(known)) ?? undirected.get(chainKey(known.map(withoutDirection))) ?? [];
    for (const chain of found) chains.add(chain);
  }
  const kept = [...chains].slice(0, decision.count).map((chain) => [...chain]);
  return kept.length > 0 ? { chains: kept } : undefined;
}

function namesOf(entry: unknown, lenient: boolean): string[] | undefined {
  if (Array.isArray(entry)) return entry.every((name) => typeof name === 'string') ? (entry as string[]) : undefined;
  if (!lenient || typeof entry !== 'string') return undefined;
  return /->|→/.test(entry) ? entry.split(/->|→/).map(unwrapped) : splitList(entry, true).map(unwrapped);
}

/** Among chains with equal names the first is used, unless the direction is left out. */
function chainsByNames({ allowed, relationName }: ChainsDecision, shape: (name: string) => string) {
  const chains = new Map<string, (readonly number[])[]>();
  for (const chain of allowed) {
    const key = chainKey(chain.map((relation) => shape(shownName(relationName(relation)))));
    const known = chains.get(key);
    if (!known) chains.set(key, [chain]);
    else if (shape === withoutDirection) known.push(chain);
  }
  return chains;
}

const withoutDirection = (name: string): string => (name.startsWith('~') ? name.slice(1) : name);

const chainKey = (names: readonly string[]): string => JSON.stringify(names);

/** Written paths that are looked at for each that is wanted: a model that never stops must not cost time. */
const namesEach = 4;
const deepest = 3;

/** `{"paths":["Tenet → directed_by → Nolan"]}`: each one of the paths that exist, as the prompt writes them. */
export const pathsForm: ReplyForm<PathsDecision> = {
  instruction: () =>
    'Reply with JSON that holds "paths", the list of the paths that lead to the answer, best first, each written as it stands under Paths; ~ marks a relation that is followed backwards.',
  limits: (decision) => (wanted(decision) === 1 ? 'Write 1 path.' : `Write at most ${wanted(decision)} paths.`),
  write: (decision, { paths }) => ({ paths: paths.map((index) => pathText(decision, decision.allowed[index]!)) }),
  shape(decision) {
    const max = wanted(decision);
    const texts = max > 0 ? decision.allowed.map((path) => pathText(decision, path)) : [''];
    return { fields: { paths: { list: { texts }, min: Math.min(max, 1), max } } };
  },
  read(decision, value, lenient) {
    const list = listOf(field(value, 'paths', lenient, ['path', 'chains']) ?? (lenient ? value : undefined));
    return list && pathsOf(decision, list, lenient);
  },
  readWhole(decision, text) {
    const lists = looseValues(text).toReversed();
    return lists.length > 1 && lists.every(Array.isArray) ? pathsOf(decision, lists.flat(), true) : undefined;
  },
  readLines(decision, lines) {
    const written = lines.map((line) => line.replace(/<\/?\w+>/g, ' ').trim());
    return pathsOf(decision, written, true);
  },
};

/** Paths that are not there are dropped, repeated ones too; unreadable where none is left. */
function pathsOf(decision: PathsDecision, written: readonly unknown[], lenient: boolean): PathsReply | undefined {
  // Homonyms: paths with equal texts cannot be distinguished, so all of them are meant.
  const byText = Map.groupBy(decision.allowed.keys(), (index) => pathText(decision, decision.allowed[index]!));
  const effort = fullEffort();
  const meant = (entry: unknown, depth = 0): number[] => {
    if (typeof entry === 'string') {
      return (
        byText.get(entry) ??
        (lenient ? (byText.get(barePath(entry)) ?? snapped(decision, barePath(entry), effort)) : [])
      );
    }
    if (!lenient || !Array.isArray(entry) || depth > deepest) return [];
    // A list of names may be one path; where it is not, each of them may.
    const joined = entry.every((name) => typeof name === 'string') ? meant(entry.join(arrow)) : [];
    const most = namesEach * Math.max(decision.count, 5);
    return joined.length > 0 ? joined : entry.slice(0, most).flatMap((one) => meant(one, depth + 1));
  };
  const found = new Set(lenient ? meant(written) : written.flatMap((one) => meant(one)));
  return found.size > 0 ? { paths: [...found].slice(0, decision.count) } : undefined;
}

const barePath = (text: string): string => unwrapped(text.replace(/^(?:path(?:\s*\d{1,3})?|\d{1,3})?\s*[.):]\s+/i, ''));

/** Paths matched by a written one, name by name; a relation may lack its direction. */
function snapped(decision: PathsDecision, written: string, effort: Effort): number[] {
  const parts = written.split(/→|(?<!=)=+>|(?<!-)-+>/).map(unwrapped);
  if (parts.length < 3) return [];
  let paths = decision.allowed.map((path, index) => ({ index, names: pathNames(decision, path) }));
  paths = paths.filter(({ names }) => names.length === parts.length);
  for (const [place, part] of parts.entries()) {
    const named = new OfferedNames(distinct(paths, place, same), effort);
    const directed = named.snap(part) === undefined ? withoutDirection : same;
    const meant = directed === same ? named : new OfferedNames(distinct(paths, place, directed), effort);
    const name = meant.names[meant.snap(directed(part)) ?? -1];
    paths = paths.filter((path) => directed(path.names[place]!) === name);
  }
  return paths.map(({ index }) => index);
}

function distinct(paths: readonly { names: string[] }[], place: number, shape: (name: string) => string): string[] {
  return [...new Set(paths.map(({ names }) => shape(names[place]!)))];
}

const same = (name: string): string => name;
