/** Example walks: what was said, the gold, what the agent ranked, and where it first went wrong. */
import type { ExampleWalk } from '../src/run/records.js';
import type { ExampleView, MessageView, WalkView } from './html.js';
import { readRelation } from './relations.js';

type Hops = ExampleWalk['gold'];

const shownMessages = 3;

/** Prepares a worked example for the page; nothing is escaped yet. */
export function exampleView({ id, messages, sender, start, gold, beam, firstWrongHop }: ExampleWalk): ExampleView {
  const said = messages.map(({ sender, text }): MessageView => ({
    assistant: sender === 'assistant',
    lines: text.split(/\r?\n/),
  }));
  const rank = beam.findIndex(({ path }) => JSON.stringify(path) === JSON.stringify(gold));
  const right = firstWrongHop === undefined;
  const wrong = rank > 0 ? `gold is ranked ${rank + 1}` : `first wrong edge: hop ${(firstWrongHop ?? 0) + 1}`;
  return {
    id: `${id}, the ${sender} chooses`,
    right,
    verdict: right ? 'right' : wrong,
    earlier: said.slice(0, -shownMessages),
    messages: said.slice(-shownMessages),
    gold: walkView(start, gold),
    beam: beam.map(({ path, logProb }) => ({ ...walkView(start, path, gold), ...shareView(logProb) })),
  };
}

/** @param gold marks the hops: right up to the first that differs, which is wrong */
function walkView(start: string, path: Hops, gold?: Hops): WalkView {
  const wrong = gold ? path.findIndex((hop, i) => JSON.stringify(hop) !== JSON.stringify(gold[i])) : -1;
  return {
    start,
    hops: path.map(([, relation, entity], i) => {
      const mark = !gold || (wrong >= 0 && i > wrong) ? '' : i === wrong ? 'wrong' : 'right';
      return { ...readRelation(relation), entity, mark };
    }),
  };
}

/** Agents that rank by a score which is no log-probability have no share to show. */
function shareView(logProb: number): { share: string; width: number } {
  if (!(logProb <= 0)) return { share: '', width: 0 };
  const probability = Math.exp(logProb);
  return { share: `${(100 * probability).toFixed(1)} %`, width: Math.round(100 * probability) };
}
