/** The parsing ladder: what a model wrote, read as the typed reply it means, or not at all. Nothing is ever evaluated. */
import type { Decision, ParseStage, ReplyOf } from '../decision.js';
import { balancedBlocks, looseValues } from './loose-json.js';
import { replyForm } from './reply-forms.js';
import { bareReply, linesOf } from './reply-values.js';

/** Length of the end of a reply that is read when the whole is not JSON, in UTF-16 units. */
const longestReply = 16_384;

interface ReadReply<D extends Decision> {
  reply: ReplyOf<D>;
  stage: Exclude<ParseStage, 'asked-again' | 'unparsed'>;
}

/**
 * Reads a reply: JSON of the asked form (`direct`, or `constrained`); the last such JSON inside other text
 * (`extracted`); other JSON, Python literals, cut JSON, lists and lines that mean the same (`repaired`). Numbers out of
 * range, names that were not offered and repetitions are dropped.
 * @returns undefined where nothing can be read. Never throws; bounded time for any text
 */
export function readReply<D extends Decision>(
  decision: D,
  text: string,
  { constrained }: { constrained: boolean },
): ReadReply<D> | undefined {
  const form = replyForm(decision);
  const json = parsed(text);
  const direct = json && form.read(decision, json.value, false);
  if (direct) return { reply: direct, stage: constrained ? 'constrained' : 'direct' };
  const end = text.slice(-longestReply);
  const bare = bareReply(end);
  const blocks = [...balancedBlocks(end), bare].flatMap((block) => parsed(block) ?? []);
  for (const { value } of blocks) {
    const reply = form.read(decision, value, false);
    if (reply) return { reply, stage: 'extracted' };
  }
  const whole = form.readWhole?.(decision, bare);
  if (whole) return { reply: whole, stage: 'repaired' };
  const loose = looseValues(bare);
  const several = loose.length > 1 ? [loose.toReversed()] : [];
  for (const value of [...blocks.map((block) => block.value), ...several, ...loose].flatMap(alsoInside)) {
    const reply = form.read(decision, value, true);
    if (reply) return { reply, stage: 'repaired' };
  }
  const reply = form.readLines(decision, linesOf(bare));
  return reply && { reply, stage: 'repaired' };
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** `{"reply":{…}}` and `[{…}]` may mean what they hold. */
function alsoInside(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value];
  const [inner, second] = Object.values(value).slice(0, 2) as unknown[];
  const nested = second === undefined && typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return nested ? [value, inner] : [value];
}
