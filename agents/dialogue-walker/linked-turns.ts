/** Distant supervision: walks that unannotated turns of train dialogues suggest by the entities they name. */
import type { Dialogue } from '../../datasets/dialogue.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { LinkedTurnSettings } from '../../datasets/settings.js';
import { type splitSamples, isLeftOut, type SplitSettings, type WalkSample } from '../../datasets/walk-sample.js';
import { type AdjacencyRows, reversedRows } from '../../src/kg/adjacency.js';
import { type Graph, type Path, unknownId } from '../../src/kg/graph.js';
import { withoutQualifier } from '../../src/kg/name-index.js';
import { maxMentionTokens, tokenize } from './features/dialogue-scratch.js';

/** Golds of train in which two relations must follow one another before a turn is linked by them. */
const leastPairUses = 10;
const messagesBack = 3;

/**
 * A sample for each unannotated message of a train dialogue that two entities link: one said before, where the
 * walk starts, and the first that is named in it and never was before. Its path is the edge between them whose relation
 * golds of train use most, else two edges whose pair of relations they use. What is said in valid and test is never read.
 * Ids are `train-17~3`: dialogue and number of the message, from 0; `task.linked` marks these samples.
 * @param dialogues of train, whose annotated paths stand in the tasks as earlier paths
 * @param train samples of the same dialogues: their golds say which relations are used
 */
export function linkedTurns(dialogues: readonly Dialogue[], train: readonly WalkSample[], graph: Graph): WalkSample[] {
  const linker = new Linker(graph, train);
  return dialogues.flatMap((dialogue) => linkedOf(dialogue, linker, graph));
}

/** Linked turns of a run. */
export interface LinkedTurns extends LinkedTurnSettings {
  samples: WalkSample[];
}

/**
 * Those of a run; undefined where its settings do not ask for any. Of the dialogues that its train samples come from alone, where
 * those are a draw, and of the same speakers.
 */
export function linkedTurnsOf(
  dataset: Parameters<typeof splitSamples>[0],
  graph: Graph,
  train: readonly WalkSample[],
  { turns, maxDialogues, fold = null, trainSamples }: SplitSettings,
  settings: LinkedTurnSettings | null,
): LinkedTurns | undefined {
  if (!settings) return undefined;
  const drawn = trainSamples === null ? undefined : new Set(train.map(({ task }) => task.dialogueId));
  const dialogues = dataset
    .loadDialogues('train')
    .slice(0, maxDialogues ?? undefined)
    .filter(({ id }) => !isLeftOut(id, fold) && (drawn?.has(id) ?? true));
  const linked = linkedTurns(dialogues, train, graph);
  return { ...settings, samples: linked.filter(({ task }) => turns === 'all' || task.sender === 'assistant') };
}

function linkedOf({ id, messages, paths }: Dialogue, linker: Linker, graph: Graph): WalkSample[] {
  const annotated = new Set(paths.map(({ position }) => position));
  const golds = paths.map(({ triples }) =>
    triples.map(([head, relation, tail]) => [graph.entityId(head), graph.relationId(relation), graph.entityId(tail)]),
  ) as unknown as Path[];
  const said = messages.map(({ text }) => linker.named(text));
  const known = new Set<number>();
  const samples: WalkSample[] = [];
  messages.forEach(({ sender }, i) => {
    const before = paths.filter(({ position }) => position < i).length;
    const earlierPaths = golds.slice(0, before);
    const target = said[i]!.find((names) => !names.some((entity) => known.has(entity)));
    if (i > 0 && !annotated.has(i) && target) {
      const back = said.slice(Math.max(0, i - messagesBack), i).reverse();
      const starts = new Set([earlierPaths.at(-1)?.at(-1)?.[2] ?? unknownId, ...back.flat(2)]);
      const path = linker.path([...starts], target);
      if (path) {
        const start = path[0]![0];
        samples.push({
          task: {
            id: `${id}~${i}`,
            dialogueId: id,
            messages: messages.slice(0, i),
            sender,
            linked: true,
            start,
            startName: graph.entityNames[start]!,
            earlierPaths,
          },
          gold: { path, target: path.at(-1)![2], inGraph: true },
        });
      }
    }
    for (const entity of said[i]!.flat()) known.add(entity);
  });
  return samples;
}

/** Finds names in texts, and the walk between two of them that golds make likeliest. */
class Linker {
  readonly #entities = new Map<string, number[]>();
  readonly #genres = new Set<number>();
  readonly #relationUses: Int32Array;
  readonly #pairUses = new Map<number, number>();
  readonly #reversed: AdjacencyRows;

  constructor(
    readonly graph: Graph,
    train: readonly WalkSample[],
  ) {
    graph.entityNames.forEach((name, entity) => {
      const names = [name, withoutQualifier(name)].map((one) => tokenize(one).join(' '));
      for (const key of new Set(names)) {
        const known = this.#entities.get(key);
        if (known) known.push(entity);
        else if (key !== '') this.#entities.set(key, [entity]);
      }
    });
    const isGenre = graph.relationNames.map((name) => /^[^~].*genre/i.test(name));
    graph.tails.forEach((tail, edge) => {
      if (isGenre[graph.relations[edge]!]) this.#genres.add(tail);
    });
    this.#reversed = reversedRows(graph);
    this.#relationUses = new Int32Array(graph.numRelations);
    const note = madeFromSamples('frequency table', 'relations that link turns');
    for (const sample of train) {
      const { path, inGraph } = sample.gold;
      if (!inGraph) continue;
      note(sample);
      path.forEach(([, relation], hop) => {
        this.#relationUses[relation]!++;
        if (hop > 0)
          this.#pairUses.set(this.#pair(path[hop - 1]![1], relation), this.#uses(path[hop - 1]![1], relation) + 1);
      });
    }
  }

  /** Entities named in a text, in order, longest match first; homonyms are grouped. */
  named(text: string): number[][] {
    const plain = text.normalize('NFKD').replace(/\p{M}/gu, '');
    const words = [...plain.matchAll(/[\p{L}\p{N}]+/gu)];
    const keys = words.map(([word]) => word.toLowerCase());
    const found: number[][] = [];
    for (let begin = 0; begin < words.length; begin++) {
      for (let end = Math.min(words.length, begin + maxMentionTokens); end > begin; end--) {
        const entities = this.#entities.get(keys.slice(begin, end).join(' '));
        if (!entities || (end === begin + 1 && !this.#isName(plain, words[begin]!, entities))) continue;
        found.push(entities);
        begin = end - 1;
        break;
      }
    }
    return found;
  }

  /** Accepts a single word as a name: a year, a genre, or long and capitalised within a sentence. */
  #isName(text: string, { 0: word, index }: RegExpExecArray, entities: readonly number[]): boolean {
    if (/^(1[89]|20)\d\d$/.test(word) || entities.some((entity) => this.#genres.has(entity))) return true;
    return word.length >= 4 && /^\p{Lu}/u.test(word) && /[\p{L}\p{N},;:'"()&-]\s*$/u.test(text.slice(0, index));
  }

  /** @param starts in the order in which they are tried; all by one edge before any by two */
  path(starts: readonly number[], targets: readonly number[]): Path | undefined {
    const reachable = starts.filter((start) => this.graph.degree(start) > 0);
    for (const search of [this.#oneHop, this.#twoHops]) {
      for (const start of reachable) {
        for (const target of targets) {
          const path = start === target ? undefined : search.call(this, start, target);
          if (path) return path;
        }
      }
    }
    return undefined;
  }

  #oneHop(start: number, target: number): Path | undefined {
    const { offsets, relations, tails } = this.graph;
    let best = -1;
    for (let edge = offsets[start]!; edge < offsets[start + 1]!; edge++) {
      if (tails[edge] !== target) continue;
      if (best < 0 || this.#relationUses[relations[edge]!]! > this.#relationUses[best]!) best = relations[edge]!;
    }
    return best < 0 ? undefined : [[start, best, target]];
  }

  #twoHops(start: number, target: number): Path | undefined {
    const { offsets, relations, tails } = this.graph;
    const into = new Map<number, number[]>();
    for (let place = this.#reversed.offsets[target]!; place < this.#reversed.offsets[target + 1]!; place++) {
      const head = this.#reversed.tails[place]!;
      const known = into.get(head);
      if (known) known.push(this.#reversed.relations[place]!);
      else into.set(head, [this.#reversed.relations[place]!]);
    }
    let most = leastPairUses - 1;
    let best: Path | undefined;
    for (let edge = offsets[start]!; edge < offsets[start + 1]!; edge++) {
      const [first, middle] = [relations[edge]!, tails[edge]!];
      if (middle === start || middle === target) continue;
      for (const second of into.get(middle) ?? []) {
        const uses = this.#uses(first, second);
        if (uses <= most) continue;
        most = uses;
        best = [
          [start, first, middle],
          [middle, second, target],
        ];
      }
    }
    return best;
  }

  #pair(first: number, second: number): number {
    return first * this.graph.numRelations + second;
  }

  #uses(first: number, second: number): number {
    return this.#pairUses.get(this.#pair(first, second)) ?? 0;
  }
}
