/** Relation sequences, each one of those that exist. */
import type { ChainsDecision, ChainsReply } from '../../decision.js';
import { shownName } from '../prompt-text.js';
import type { ReplyForm } from '../reply-form.js';
import { field, listOf, OfferedNames, splitList, unwrapped } from '../reply-values.js';

/** `{"chains":[["directed_by","~directed_by"]]}`: relation names, each list one of those that exist. */
export const chainsForm: ReplyForm<ChainsDecision> = {
  instruction: () =>
    'Reply with JSON that holds "chains", a list of lists of relations in the order in which they are followed; ~ marks one that is followed backwards.',
  limits: (decision) => {
    const count = wanted(decision);
    return count === 1
      ? `Write 1 chain of length ${decision.hops}.`
      : `Write ${count} different chains of length ${decision.hops}.`;
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
    return reply(decision, single ? [list] : list, lenient);
  },
  readLines(decision, lines) {
    const written = lines.map((line) => unwrapped(line.replace(/^(?:\w+(?:\s+\d{1,2})?)?\s*[.):]\s*/, '')));
    return reply(decision, written, true);
  },
};

function wanted({ count, allowed }: ChainsDecision): number {
  return Math.min(count, allowed.length);
}

/** Chains that are not allowed are dropped, repeated ones too; unreadable where none is left. */
function reply(decision: ChainsDecision, written: readonly unknown[], lenient: boolean): ChainsReply | undefined {
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
  if (Array.isArray(entry)) {
    return entry.every((name) => typeof name === 'string') ? (entry as string[]) : undefined;
  }
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

function withoutDirection(name: string): string {
  return name.startsWith('~') ? name.slice(1) : name;
}

function chainKey(names: readonly string[]): string {
  return JSON.stringify(names);
}
