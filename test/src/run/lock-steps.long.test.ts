/**
 * The steps by which a lock is taken, tried in every interleaving of three processes, of which each may die before every step:
 * a small model checker that visits every state there is.
 */
import { describe, expect, test } from '@jest/globals';
import { holds, isDone, type LockDisk, type LockState, lockStep, waits } from '../../../src/run/run-lock.js';
import { tally } from '../../fixtures/long-tests.js';

interface Process {
  state: LockState;
  /** `ended` has released the lock or was refused. */
  life: 'alive' | 'dead' | 'ended';
}

/** All that there is between two steps. */
interface World {
  lock?: string;
  claims: readonly string[];
  processes: readonly Process[];
  /** True once the lock was held. */
  held: boolean;
}

interface Model {
  links: boolean;
  /** Processes may die. */
  deaths: boolean;
  step: typeof lockStep;
}

const contentOf = (claim: string) => `lock of ${claim}`;

function begin(count: number, lock: string | undefined): World {
  const processes = Array.from({ length: count }, (_, i): Process => {
    return { state: { next: 'claim', claim: `claim ${i}`, patience: 1 }, life: 'alive' };
  });
  return { ...(lock !== undefined && { lock }), claims: [], processes, held: false };
}

/** The disk of a world, on which process `i` does one thing; `changed` is the world afterwards. */
function diskOf(world: World, i: number, { links }: Model) {
  const { claim } = world.processes[i]!.state;
  const changed: { lock?: string; claims: readonly string[] } = {
    claims: world.claims,
  };
  if (world.lock !== undefined) changed.lock = world.lock;
  const isLiving = (name: string) =>
    world.processes.some(({ state, life }) => life === 'alive' && state.claim === name);
  const disk: LockDisk = {
    claim() {
      if (world.claims.includes(claim)) throw new TypeError(`${claim} is made twice`);
      changed.claims = [...world.claims, claim].sort();
    },
    withdraw: () => void (changed.claims = world.claims.filter((one) => one !== claim)),
    create() {
      if (!links) return undefined;
      if (world.lock !== undefined) return false;
      changed.lock = contentOf(claim);
      return true;
    },
    replace() {
      changed.claims = world.claims.filter((one) => one !== claim);
      changed.lock = contentOf(claim);
    },
    read: () => world.lock,
    rivals() {
      changed.claims = world.claims.filter((one) => one === claim || isLiving(one));
      return changed.claims.filter((one) => one !== claim);
    },
    isAlive: (holder) => world.processes.some((one) => one.life === 'alive' && contentOf(one.state.claim) === holder),
  };
  return { disk, changed };
}

/** Every world that may come next, each by one step of one process or by its death. */
function* nextWorlds(world: World, model: Model): Generator<World> {
  for (const [i, process] of world.processes.entries()) {
    if (process.life !== 'alive') continue;
    const become = (change: Partial<Process>, rest: Partial<World> = {}): World => {
      return { ...world, ...rest, processes: world.processes.map((one, p) => (p === i ? { ...one, ...change } : one)) };
    };
    if (model.deaths) yield become({ life: 'dead' });
    const { claim } = process.state;
    if (process.state.next === 'refused') yield become({ life: 'ended' });
    else if (process.state.next === 'held') {
      const { lock: _released, ...free } = become({ life: 'ended' });
      yield world.lock === contentOf(claim) ? free : { ...free, lock: world.lock! };
    } else {
      const { disk, changed } = diskOf(world, i, model);
      const state = model.step(process.state, disk);
      const { lock: _before, ...after } = become({ state });
      const { claims, lock } = changed;
      yield { ...after, claims, held: world.held || holds(state), ...(lock !== undefined && { lock }) };
    }
  }
}

const keyOf = ({ lock, claims, processes, held }: World): string =>
  [
    ...[lock, claims, held],
    ...processes.map(({ state: { next, found, by, patience }, life }) => [
      next,
      found,
      patience,
      life,
      by !== undefined,
    ]),
  ].join('|');

/** First violated condition of those that hold in every world. */
function wrongIn({ processes, lock }: World): string | undefined {
  const holders = processes.filter(({ state, life }) => life === 'alive' && holds(state));
  if (holders.length > 1) return 'two hold the lock';
  const [holder] = holders;
  if (holder && lock !== contentOf(holder.state.claim)) return 'a live lock was moved';
  return undefined;
}

/** Visits everything that can be. `interleavings` counts the ways from the beginning to an end, without cycles or it throws. */
function explore(start: World, model: Model) {
  const known = new Map<string, World>();
  const waysFrom = new Map<string, bigint>();
  const ends: World[] = [];
  const open = new Set<string>();
  let steps = 0;
  let wrong: string | undefined;
  const visit = (world: World): bigint => {
    const key = keyOf(world);
    const before = waysFrom.get(key);
    if (before !== undefined) return before;
    if (open.has(key)) throw new TypeError('a circle: processes may wait for each other for ever');
    open.add(key);
    known.set(key, world);
    wrong ??= wrongIn(world);
    let ways = 0n;
    for (const next of nextWorlds(world, model)) {
      steps++;
      ways += visit(next);
    }
    if (ways === 0n) {
      ends.push(world);
      ways = 1n;
    }
    open.delete(key);
    waysFrom.set(key, ways);
    return ways;
  };
  const interleavings = visit(start);
  return { states: known.size, steps, interleavings, ends, wrong };
}

/** True if a later process, alone, takes the lock. */
function canBeTaken({ processes, ...left }: World, model: Model): boolean {
  const newcomer: Process = {
    state: { next: 'claim', claim: 'claim of a newcomer', patience: 1 },
    life: 'alive',
  };
  let world: World = { ...left, processes: [...processes, newcomer] };
  for (;;) {
    const { state } = world.processes.at(-1)!;
    if (isDone(state)) return state.next === 'held';
    [world] = [...nextWorlds(world, { ...model, deaths: false })] as [World];
  }
}

const dead = 'lock of a dead process';
const cases = [undefined, dead].flatMap((lock) => [true, false].map((links) => ({ lock, links })));

test.each(cases)(
  'three processes that meet $lock, links: $links, each of which may die before every step',
  ({ lock, links }) => {
    const model: Model = { links, deaths: true, step: lockStep };
    const { wrong, ends, interleavings, states } = explore(begin(3, lock), model);
    // Never do two hold it, never is a live lock moved; and no process waits for ever, or there would be a circle.
    expect(wrong).toBeUndefined();
    expect(states).toBeGreaterThan(10_000);
    expect(interleavings).toBeGreaterThan(10n ** 6n);
    tally('interleavings tried', Number(interleavings));
    // At an end only a lock and claims are left; no process is alive.
    const left = new Map<string, World>();
    for (const end of ends) {
      // Without deaths nothing is left; leftovers never keep a process from taking the lock.
      const died = end.processes.some(({ life }) => life === 'dead');
      if (!died) expect([end.claims, end.lock]).toEqual([[], end.held ? undefined : lock]);
      left.set([end.lock, ...end.claims].join(), end);
    }
    for (const end of left.values()) {
      expect(end.processes.some(({ life }) => life === 'alive')).toBe(false);
      if (!canBeTaken(end, model)) throw new TypeError(`cannot be taken: ${keyOf(end)}`);
    }
  },
);

describe('the checker finds what is wrong with steps that', () => {
  const found = (step: typeof lockStep) => explore(begin(3, dead), { links: true, deaths: false, step }).wrong;

  test('do not look for other claims', () => {
    expect(found((state, disk) => lockStep(state, { ...disk, rivals: () => [] }))).toBe('two hold the lock');
  });

  test('do not look at the lock once more', () => {
    const step: typeof lockStep = (state, disk) =>
      state.next === 'again' ? lockStep({ ...state, next: 'replace' }, disk) : lockStep(state, disk);
    expect(found(step)).toBe('two hold the lock');
  });
});

describe('where several claim a dead lock', () => {
  const look = (claim: string, rivals: readonly string[]) =>
    lockStep({ next: 'look', claim, found: dead, patience: 9 }, { rivals: () => rivals } as unknown as LockDisk);

  test('the first by name stays and looks again, in any order of the claims; the others make room', () => {
    expect(look('a', ['c', 'b'])).toMatchObject({ next: 'look', patience: 8 });
    expect(look('b', ['c', 'a'])).toMatchObject({ next: 'yield', patience: 8 });
    expect(look('c', ['b', 'a'])).toMatchObject({ next: 'yield', patience: 8 });
    expect(look('a', [])).toMatchObject({ next: 'again' });
  });

  test('each waits after a look, not where it gives up', () => {
    const before = { next: 'look', claim: 'b', patience: 9 } as const;
    expect(waits(look('b', ['a']), before)).toBe(true);
    expect(waits(look('b', []), before)).toBe(false);
    expect(waits({ ...before, next: 'refuse', patience: 8 }, before)).toBe(false);
  });
});
