/** The form of every kind of decision. */
import type { Decision, DecisionKind, ReplyOf, ParseStage } from '../decision.js';
import type { ReplyFormat } from '../language-model.js';
import { answerForm, extractForm, judgeForm } from './forms/answer.js';
import { chainsForm, pathsForm } from './forms/routes.js';
import { chooseManyForm, chooseOneForm, matchForm, scoreForm } from './forms/candidates.js';
import { rewriteForm } from './forms/rewrite.js';
import { type ReplyForm, shapeGrammar, shapeSchema, shapeTokens } from './reply-form.js';
import { balancedBlocks, looseValues } from './loose-json.js';
import { bareReply, linesOf, withoutThoughts } from './reply-values.js';

const replyForms: { [Kind in DecisionKind]: ReplyForm<Extract<Decision, { kind: Kind }>> } = {
  extract: extractForm,
  'choose-one': chooseOneForm,
  'choose-many': chooseManyForm,
  score: scoreForm,
  match: matchForm,
  chains: chainsForm,
  rewrite: rewriteForm,
  paths: pathsForm,
  judge: judgeForm,
  answer: answerForm,
};

export function replyForm<D extends Decision>(decision: D): ReplyForm<D> {
  return replyForms[decision.kind] as unknown as ReplyForm<D>;
}

/** The compact JSON text that the reply's grammar derives and that the production parser reads as the same reply. */
export function writeReply<D extends Decision>(decision: D, reply: ReplyOf<D>): string {
  return JSON.stringify(replyForm(decision).write(decision, reply));
}

const slack = 48;

/**
 * Schema and grammar of the replies to a decision. The grammar says more: ranges, which relation sequences exist, no
 * white space. Neither can say that choices differ; repetitions are dropped on reading.
 */
export function replyFormat(decision: Decision): ReplyFormat {
  const shape = replyForm(decision).shape(decision);
  return { jsonSchema: shapeSchema(shape), gbnf: shapeGrammar(shape) };
}

/** Tokens that a reply may take. */
export const maxReplyTokens = (decision: Decision): number => slack + shapeTokens(replyForm(decision).shape(decision));

/** Length of the end of a reply that is read when the whole is not JSON, in UTF-16 units. */
const longestReply = 16_384;

type ReadReply<D extends Decision> = { reply: ReplyOf<D>; stage: Exclude<ParseStage, 'asked-again' | 'unparsed'> };

/**
 * Reads a reply: JSON of the asked form (`direct`, or `constrained`); the last such JSON inside other text
 * (`extracted`); other JSON, Python literals, cut JSON, lists and lines that mean the same (`repaired`). Numbers out of
 * range, names that were not offered and repetitions are dropped. Thoughts are left out, and those without an end are not read.
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
  const end = withoutThoughts(text)?.slice(-longestReply);
  if (end === undefined) return undefined;
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
