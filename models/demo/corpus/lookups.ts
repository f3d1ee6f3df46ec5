/**
 * Practice in finding a place in a numbered list, which every choice among candidates asks for: a list as prompts show it, then
 * for some of its lines, by their words, their numbers; or one line sought, and a score for each. Endless.
 */
import { readableRelation } from '../../../agents/prompted/self-veqa/sub-graph.js';
import type { Graph } from '../../../src/kg/graph.js';
import { numberedLines } from '../../../src/llm/decisions/prompt-text.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { CorpusSegment } from '../../llama/corpus-document.js';
import { scoreSegments } from './decisions.js';
import type { CorpusDraft } from './draft.js';

/** Lines of a list. */
const lines = { least: 2, most: 14 };

/** Endless; nothing for a graph without entities or relations. */
export function* lookupDrafts(graph: Graph, rng: Rng): Generator<CorpusDraft> {
  if (graph.numEntities === 0 || graph.numRelations === 0) return;
  for (;;) {
    const items = drawItems(graph, rng);
    const list = `Candidates:\n${numberedLines(items).join('\n')}\n`;
    const scored = rng.uniform() < 0.4;
    yield {
      ...{ kind: 'fact', phase: scored ? 'scored-lookup' : 'lookup' },
      segments: [
        { special: 'bos', weight: 0 },
        ...(scored ? scores(items, list, rng) : numbers(items, list, rng)),
        { special: 'eos', weight: 1 },
      ],
    };
  }
}

/** Different relations, in the order of their names as prompts list them, or different entities. */
function drawItems(graph: Graph, rng: Rng): string[] {
  const names = rng.uniform() < 0.7 ? graph.relationNames : graph.entityNames;
  const count = lines.least + rng.integer(lines.most - lines.least + 1);
  const drawn = new Set(Array.from({ length: count }, () => names[rng.integer(names.length)]!));
  return [...drawn].sort();
}

/** `{"set in":3,"~born_in":1}`: the numbers count. */
function numbers(items: readonly string[], list: string, rng: Rng): CorpusSegment[] {
  const order = rng.shuffle(Int32Array.from(items.keys())).slice(0, 8);
  const told = Array.from(order, (place, i): CorpusSegment[] => [
    { text: `${i === 0 ? '{' : ','}${JSON.stringify(labelOf(items, place, rng))}:`, weight: 0 },
    { text: String(place + 1), weight: 1 },
  ]);
  return [{ text: list, weight: 0 }, ...told.flat(), { text: '}', weight: 1 }];
}

function scores(items: readonly string[], list: string, rng: Rng): CorpusSegment[] {
  const sought = rng.integer(items.length);
  const reply = JSON.stringify({ scores: items.map((_, place) => (place === sought ? 10 : 0)) });
  return [{ text: `Question: ${labelOf(items, sought, rng)}\n${list}`, weight: 0 }, ...scoreSegments(reply)];
}

/** A line's text, or the words of its relation where no other line has the same. */
function labelOf(items: readonly string[], place: number, rng: Rng): string {
  const item = items[place]!;
  const words = readableRelation(item);
  const alone = items.filter((other) => readableRelation(other) === words).length === 1;
  return alone && rng.uniform() < 0.6 ? words : item;
}
