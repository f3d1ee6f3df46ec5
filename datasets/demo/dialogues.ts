/** Generated conversations about the demo world: every topic change follows a path of one or two edges. */
import { Rng } from '../../src/run/seeds.js';
import type { Dialogue } from '../dialogue.js';
import { type SplitName, splitNames } from '../walk-sample.js';
import { chooseMove } from './moves.js';
import type { EntityType } from './schema.js';
import { Speech } from './speech.js';
import { chance, pick, pickWeighted, skewed, talk } from './words.js';
import type { DemoWorld } from './world.js';

/** Opening lines. */
const beginnings: readonly (readonly [EntityType, number])[] = [
  ['film', 38],
  ['book', 18],
  ['band', 8],
  ['song', 6],
  ['album', 4],
  ['actor', 7],
  ['director', 4],
  ['writer', 4],
  ['athlete', 5],
  ['team', 6],
];

const shares: Record<SplitName, number> = { train: 0.7, valid: 0.15, test: 0.15 };

/** `count` conversations by split; first messages are unique, so no dialogue occurs in two splits. */
export function demoDialogues(
  world: DemoWorld,
  { seed, dialogues: count }: { seed: number; dialogues: number },
): Record<SplitName, Dialogue[]> {
  const rng = Rng.named(seed, 'demo/dialogues');
  const known = knownFirst(world);
  const opened = new Set<string>();
  const made: Omit<Dialogue, 'id'>[] = [];
  for (let attempt = 0; made.length < count && attempt < 20 * count; attempt++) {
    const dialogue = conversation(world, known, rng);
    const opening = dialogue?.messages[0]?.text;
    if (!dialogue || opening === undefined || opened.has(opening)) continue;
    opened.add(opening);
    made.push(dialogue);
  }
  const splits = {} as Record<SplitName, Dialogue[]>;
  let begin = 0;
  for (const split of splitNames) {
    const end = split === 'test' ? made.length : begin + Math.round(shares[split] * made.length);
    splits[split] = made.slice(begin, end).map((dialogue, i) => ({ id: `${split}-${i + 1}`, ...dialogue }));
    begin = end;
  }
  return splits;
}

/** Entity ids of each type, highest degree first. */
function knownFirst({ graph, types }: DemoWorld): ReadonlyMap<EntityType, number[]> {
  const byType = new Map<EntityType, number[]>();
  types.forEach((type, id) => (byType.get(type) ?? byType.set(type, []).get(type)!).push(id));
  for (const ids of byType.values()) ids.sort((a, b) => graph.degree(b) - graph.degree(a) || a - b);
  return byType;
}

function conversation(
  world: DemoWorld,
  known: ReadonlyMap<EntityType, number[]>,
  rng: Rng,
): Omit<Dialogue, 'id'> | undefined {
  const [type] = pickWeighted(rng, beginnings, ([of, weight]) => (known.has(of) ? weight : 0));
  const ids = known.get(type)!;
  const speech = new Speech(world, rng, ids[skewed(rng, ids.length, 1.7)]!, (aside) => {
    const others = known.get(aside);
    return others && others[skewed(rng, others.length, 1.5)]!;
  });
  const wanted = pickWeighted(rng, [1, 2, 3, 4], (n) => [0.12, 0.4, 0.34, 0.14][n - 1]!);
  for (let n = 0; n < wanted; n++) {
    const asks = n === 0 || chance(rng, 0.64);
    const move = chooseMove(world, rng, speech, asks);
    if (!move) break;
    if (asks) speech.ask(move);
    else speech.prompt(move);
  }
  speech.end(chance(rng, 0.5) ? pick(rng, talk().farewells) : undefined);
  const { messages, paths } = speech;
  return paths.length === 0 ? undefined : { messages, paths };
}
